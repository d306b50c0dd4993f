/* SPDX-License-Identifier: MIT */
/*
 * The kernel's structures, only the fields in use. Offsets are relocated when
 * the object is loaded (CO-RE), so order and gaps mean nothing here; what a
 * kernel lacks is asked for by bpf_core_field_exists().
 */
#ifndef KERNEL_BPF_H
#define KERNEL_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>

struct pt_regs; /* of <linux/ptrace.h>: the same everywhere */

#pragma clang attribute push(__attribute__((preserve_access_index)),           \
                             apply_to = record)

struct thread_info {
  __u32 status; /* x86: TS_COMPAT */
};

struct task_struct {
  struct thread_info thread_info;
  unsigned int __state;
  int on_cpu;
  int pid;              /* the thread */
  int tgid;             /* the process */
  unsigned long nvcsw;  /* context switches: it went to sleep */
  unsigned long nivcsw; /* ... or was preempted */
  char comm[16];
};

struct sock_common {
  unsigned short skc_family;
};

struct sk_buff;

struct sk_buff_head {
  struct sk_buff *prev; /* the last one; the head itself when it is empty */
};

struct sock {
  struct sock_common __sk_common;
  struct sk_buff_head sk_receive_queue;
  __u16 sk_protocol;
};

struct tcp_sock {
  __u32 srtt_us; /* in eighths of a microsecond */
};

struct gendisk {
  int major;
  int first_minor;
};

struct request_queue {
  struct gendisk *disk;
};

struct request {
  struct request_queue *q;
  unsigned int cmd_flags;
  unsigned int rq_flags;
  unsigned int __data_len;
  __u64 start_time_ns;
  __u64 io_start_time_ns;
};

#pragma clang attribute pop

/* task_struct.__state, bits */
#define TASK_RUNNING 0
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_DEAD 0x80
#define TASK_NOLOAD 0x400

/* thread_info.status, x86: the system call came through a 32-bit entry. */
#define TS_COMPAT 0x0002

/* request.cmd_flags: the low bits are the operation, as in blk_types.h. */
#define REQ_OP_MASK 0xff
#define REQ_OP_FLUSH 2
#define REQ_OP_DISCARD 3
#define REQ_OP_DRV_IN 34 /* from here on: what passes through */

/* request.rq_flags, bit numbers; an enumeration in newer kernels only. */
enum rqf_flags {
  __RQF_FLUSH_SEQ = 1,
  __RQF_IO_STAT = 8,
};

/* sock_common.skc_family, sock.sk_protocol and the states of TCP. */
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define TCP_ESTABLISHED 1
#define TCP_SYN_SENT 2
#define TCP_SYN_RECV 3

#endif
