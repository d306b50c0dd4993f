/* SPDX-License-Identifier: MIT */
/*
 * Off-CPU time: from the moment a task is switched out until it runs again,
 * whatever it waits for; its state tells: runnable (preempted, or it yielded),
 * or the kind of sleep. The last part of a sleep, woken to running, is runqlat.
 */
#include "task.bpf.h"

#include "compat.bpf.h"

enum {
  STATE_RUNNABLE,
  STATE_INTERRUPTIBLE,
  STATE_UNINTERRUPTIBLE,
  STATE_IDLE,
  STATE_MISC,
};

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "offcpu",
    .help = "Off CPU: switched out to running again",
    .labels = {{.name = "state",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "runnable interruptible uninterruptible idle misc"}},
    .rungs = {{.name = "tp_btf",
               .programs = "sched_switch",
               .maps = LATENCY_IN_TASK},
              {.name = "tp_btf+hash",
               .programs = "sched_switch_by_pid forget_pid",
               .maps = LATENCY_BY_PID}},
};

/* Idle is a kernel thread's uninterruptible sleep that is no load. Stopped,
 * traced, frozen and parked tasks are misc. */
static __always_inline __u32 kind_of(unsigned int state) {
  if (state & TASK_INTERRUPTIBLE)
    return STATE_INTERRUPTIBLE;
  if (state & TASK_UNINTERRUPTIBLE)
    return state & TASK_NOLOAD ? STATE_IDLE : STATE_UNINTERRUPTIBLE;
  return STATE_MISC;
}

static __always_inline void switched_out(enum latency_keeper keeper,
                                         struct task_struct *task, bool preempt,
                                         __u64 now) {
  unsigned int state = task_state(task);
  if (!task->pid || state & TASK_DEAD)
    return;
  struct latency_start *start = latency_start_of(keeper, task);
  if (!start)
    return;
  start->value =
      preempt || state == TASK_RUNNING ? STATE_RUNNABLE : kind_of(state);
  start->check = latency_switches(task);
  start->ns = now;
}

static __always_inline int switched(enum latency_keeper keeper, bool preempt,
                                    struct task_struct *prev,
                                    struct task_struct *next) {
  __u64 now = bpf_ktime_get_ns();
  switched_out(keeper, prev, preempt, now);

  /* The idle task; and a task that has never been off a CPU. */
  if (!next->pid || !latency_switches(next))
    return 0;
  __u32 state = 0;
  __u64 since =
      latency_take_start(keeper, next, latency_switches(next), &state);
  if (!since)
    return 0;
  if (!latency_wants(next)) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  latency_record_span(latency_group_of(next, state, 0), 0, since, now);
  return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev,
             struct task_struct *next) {
  return switched(IN_TASK, preempt, prev, next);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch_by_pid, bool preempt, struct task_struct *prev,
             struct task_struct *next) {
  return switched(BY_PID, preempt, prev, next);
}
