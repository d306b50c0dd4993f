/* SPDX-License-Identifier: MIT */
/*
 * The start of a span that one task begins and ends, kept with the task: no
 * hash, no delete, and gone with the task. For probes whose start and end
 * belong to the same task.
 *
 * Task storage for tracing programs came with 5.13 (commit a10787e6d58c "bpf:
 * Enable task local storage for tracing programs").
 */
#ifndef TASK_BPF_H
#define TASK_BPF_H

#include "latency.bpf.h"

struct latency_start {
  __u64 ns;    /* 0: nothing has begun */
  __u32 value; /* a label's value known at the start only */
  __u32 reserved;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct latency_start);
} starts SEC(".maps");

/* The task's start, made if need be; NULL is in the ledger: the kernel had no
 * memory, or the storage was locked by what this program interrupted. */
static __always_inline struct latency_start *
latency_start_of(struct task_struct *task) {
  struct latency_start *start =
      bpf_task_storage_get(&starts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!start)
    latency_lose(LATENCY_LOST_BUSY);
  return start;
}

/* Takes the start that is open, if any: returns its ns, or 0 and counts an
 * end without a start. */
static __always_inline __u64 latency_take_start(struct task_struct *task,
                                                __u32 *ret_value) {
  struct latency_start *start = bpf_task_storage_get(&starts, task, NULL, 0);
  if (!start || !start->ns) {
    latency_lose(LATENCY_LOST_UNMATCHED);
    return 0;
  }
  __u64 ns = start->ns;
  if (ret_value)
    *ret_value = start->value;
  start->ns = 0;
  return ns;
}

#endif
