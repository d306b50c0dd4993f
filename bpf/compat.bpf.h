/* SPDX-License-Identifier: MIT */
/*
 * One small function for each thing that kernels do differently: asked of BTF
 * when the object is loaded, never of a version number.
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

#include "kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* task_struct.state became __state with 5.14 (commit 2f064a59a11f "sched:
 * Change task_struct::state"). */
struct task_struct___pre_514 {
  volatile long state;
} __attribute__((preserve_access_index));

static __always_inline unsigned int task_state(struct task_struct *task) {
  struct task_struct___pre_514 *old = (void *)task;
  if (bpf_core_field_exists(task->__state))
    return task->__state;
  return old->state;
}

/*
 * A request that is one step of a flush sequence: it is completed once a step
 * and once more at the end, and only the end is its completion.
 *
 * RQF_FLUSH_SEQ was the macro (1 << 4), which BTF does not know, until newer
 * kernels made the flags an enumeration and numbered them anew.
 */
static __always_inline bool request_in_flush_sequence(struct request *rq) {
  __u32 bit = 4;
  if (bpf_core_enum_value_exists(enum rqf_flags, __RQF_FLUSH_SEQ))
    bit = bpf_core_enum_value(enum rqf_flags, __RQF_FLUSH_SEQ);
  return rq->rq_flags & (1u << bit);
}

/*
 * Is start_time_ns of this request? The kernel stamps what it accounts in
 * /proc/diskstats; with the queue's iostats off the field may hold the stamp of
 * the request that was here before. A flush of the block layer's own is always
 * stamped. RQF_IO_STAT was the macro (1 << 13).
 */
static __always_inline bool request_is_stamped(struct request *rq) {
  __u32 bit = 13;
  if (bpf_core_enum_value_exists(enum rqf_flags, __RQF_IO_STAT))
    bit = bpf_core_enum_value(enum rqf_flags, __RQF_IO_STAT);
  if (!rq->start_time_ns)
    return false;
  return rq->rq_flags & (1u << bit) ||
         (rq->cmd_flags & REQ_OP_MASK) == REQ_OP_FLUSH;
}

/* What a request does, as the labels have it: words for 0, 1, ... */
#define REQUEST_OPS "read write flush discard misc"
#define REQUEST_OP_MISC 4

static __always_inline __u32 request_op(struct request *rq) {
  __u32 op = rq->cmd_flags & REQ_OP_MASK;
  return op <= REQ_OP_DISCARD ? op : REQUEST_OP_MISC;
}

/* The disk moved from the request to its queue with 5.17 (commit f3fa33acca9f
 * "block: remove the ->rq_disk field in struct request"). */
struct request___pre_517 {
  struct gendisk *rq_disk;
} __attribute__((preserve_access_index));

/* The number of the disk as LATENCY_DECODE_DEVICE has it; 0: it has none. */
static __always_inline __u32 request_device(struct request *rq) {
  struct request___pre_517 *old = (void *)rq;
  struct gendisk *disk;
  if (bpf_core_field_exists(old->rq_disk))
    disk = old->rq_disk;
  else
    disk = rq->q->disk;
  return disk ? disk->major << 20 | disk->first_minor : 0;
}

#endif
