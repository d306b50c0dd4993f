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
  __u32 value; /* what of the start is needed at the end: a label's value */
  __u32 check; /* what must be the same at the end, where there is such */
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

/*
 * Takes the start that is open: returns its ns, and its value. 0 when there is
 * none, or one with another check, which belongs to an end that was not seen:
 * it is in the ledger then.
 */
static __always_inline __u64 latency_take_start(struct task_struct *task,
                                                __u32 check, __u32 *ret_value) {
  struct latency_start *start = bpf_task_storage_get(&starts, task, NULL, 0);
  if (!start || !start->ns) {
    latency_lose(LATENCY_LOST_UNMATCHED);
    return 0;
  }
  __u64 ns = start->ns;
  start->ns = 0;
  if (start->check != check) {
    latency_lose(LATENCY_LOST_UNMATCHED);
    return 0;
  }
  if (ret_value)
    *ret_value = start->value;
  return ns;
}

/* How often the task has left a CPU: the same at the start and at the end of
 * one wait. The kernel keeps the events of some tasks from BPF programs. */
static __always_inline __u32 latency_switches(struct task_struct *task) {
  return task->nvcsw + task->nivcsw;
}

#endif
