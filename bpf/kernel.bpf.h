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

struct pt_regs;

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

/* task_struct.__state */
#define TASK_RUNNING 0

/* thread_info.status, x86: the system call came through a 32-bit entry. */
#define TS_COMPAT 0x0002

/* request.cmd_flags: the low bits are the operation, as in blk_types.h. */
#define REQ_OP_MASK 0xff
#define REQ_OP_FLUSH 2
#define REQ_OP_DISCARD 3

/* request.rq_flags, bit numbers; an enumeration in newer kernels only. */
enum rqf_flags {
  __RQF_FLUSH_SEQ = 1,
};

#endif
