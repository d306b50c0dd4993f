/* SPDX-License-Identifier: MIT */
/*
 * The start of a span that one task begins and ends. It is kept with the task:
 * no hash, no delete, and gone with the task. Storage of tasks for tracing
 * programs came with 5.13 (commit a10787e6d58c "bpf: Enable task local storage
 * for tracing programs"); for kernels before, the rungs BY_PID keep it in a
 * hash, under the thread's number.
 */
#ifndef TASK_BPF_H
#define TASK_BPF_H

#include "latency.bpf.h"

struct latency_start {
  __u64 ns;    /* 0: nothing has begun */
  __u32 value; /* what of the start is needed at the end: a label's value */
  __u32 check; /* what must be the same at the end, where there is such */
};

/* Which of the two; a constant wherever it is passed. */
enum latency_keeper { IN_TASK, BY_PID };

/* For the rungs' lists of maps. */
#define LATENCY_IN_TASK "starts"
#define LATENCY_BY_PID "starts_by_pid"

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct latency_start);
} starts SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32);
  __type(value, struct latency_start);
} starts_by_pid SEC(".maps");

/* A pid's start is kept, for the next span, until the thread ends. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(forget_pid, struct task_struct *task) {
  __u32 pid = task->pid;
  bpf_map_delete_elem(&starts_by_pid, &pid);
  return 0;
}

/* NULL is in the ledger: the kernel had no memory, or the storage was locked by
 * what this program interrupted. */
static __always_inline struct latency_start *
latency_start_in(struct task_struct *task) {
  struct latency_start *start =
      bpf_task_storage_get(&starts, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!start)
    latency_lose(LATENCY_LOST_BUSY);
  return start;
}

/* NULL is in the ledger: there are more threads than the hash has room for. */
static __always_inline struct latency_start *latency_start_by(__u32 pid) {
  struct latency_start *start = bpf_map_lookup_elem(&starts_by_pid, &pid);
  if (start)
    return start;
  struct latency_start none = {};
  bpf_map_update_elem(&starts_by_pid, &pid, &none, BPF_NOEXIST);
  start = bpf_map_lookup_elem(&starts_by_pid, &pid);
  if (!start)
    latency_lose(LATENCY_LOST_MAP_FULL);
  return start;
}

/* The task's start, made if need be. */
static __always_inline struct latency_start *
latency_start_of(enum latency_keeper keeper, struct task_struct *task) {
  return keeper == IN_TASK ? latency_start_in(task)
                           : latency_start_by(task->pid);
}

/* The same of the task that runs now. */
static __always_inline struct latency_start *
latency_start_of_current(enum latency_keeper keeper) {
  return keeper == IN_TASK ? latency_start_in(bpf_get_current_task_btf())
                           : latency_start_by(bpf_get_current_pid_tgid());
}

/*
 * Takes what is open: returns its ns, and its value. 0 when there is nothing,
 * or something with another check, which belongs to an end that was not seen:
 * it is in the ledger then.
 */
static __always_inline __u64 latency_take(struct latency_start *start,
                                          __u32 check, __u32 *ret_value) {
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

static __always_inline __u64 latency_take_start(enum latency_keeper keeper,
                                                struct task_struct *task,
                                                __u32 check, __u32 *ret_value) {
  if (keeper == IN_TASK)
    return latency_take(bpf_task_storage_get(&starts, task, NULL, 0), check,
                        ret_value);
  __u32 pid = task->pid;
  return latency_take(bpf_map_lookup_elem(&starts_by_pid, &pid), check,
                      ret_value);
}

static __always_inline __u64
latency_take_start_of_current(enum latency_keeper keeper, __u32 *ret_value) {
  if (keeper == IN_TASK)
    return latency_take(
        bpf_task_storage_get(&starts, bpf_get_current_task_btf(), NULL, 0), 0,
        ret_value);
  __u32 pid = bpf_get_current_pid_tgid();
  return latency_take(bpf_map_lookup_elem(&starts_by_pid, &pid), 0, ret_value);
}

/* How often the task has left a CPU: the same at the start and at the end of
 * one wait. The kernel keeps the events of some tasks from BPF programs. */
static __always_inline __u32 latency_switches(struct task_struct *task) {
  return task->nvcsw + task->nivcsw;
}

#endif
