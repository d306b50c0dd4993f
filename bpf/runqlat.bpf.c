/* SPDX-License-Identifier: MIT */
/*
 * Run-queue latency: from the moment a task may run (woken, or preempted while
 * still runnable) until it runs. The span is the kernel's own run delay, field
 * 2 of /proc/PID/schedstat.
 */
#include "task.bpf.h"

#include "compat.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "runqlat",
    .help = "Wait on the run queue: woken or preempted to running",
    .rungs = {{.name = "tp_btf",
               .programs = "sched_switch sched_wakeup sched_wakeup_new",
               .maps = LATENCY_IN_TASK},
              {.name = "tp_btf+hash",
               .programs = "sched_switch_by_pid sched_wakeup_by_pid "
                           "sched_wakeup_new_by_pid forget_pid",
               .maps = LATENCY_BY_PID}},
};

/*
 * A task that is on a CPU waits for nothing: it is on its way into schedule()
 * and is woken before it is off the queue. One that already waits (preempted
 * on its way to sleep, then woken) has waited since the preemption: that start
 * stays. One that has run since is stale: its end was not seen.
 */
static __always_inline int woken(enum latency_keeper keeper,
                                 struct task_struct *task) {
  if (bpf_core_field_exists(task->on_cpu) && task->on_cpu)
    return 0;
  struct latency_start *start = latency_start_of(keeper, task);
  if (!start)
    return 0;
  if (start->ns) {
    if (start->check == latency_switches(task))
      return 0;
    latency_lose(LATENCY_LOST_UNMATCHED);
  }
  start->check = latency_switches(task);
  start->ns = bpf_ktime_get_ns();
  return 0;
}

/* Pid 0 is the idle task of each CPU: it is never on a run queue. */
static __always_inline int switched(enum latency_keeper keeper, bool preempt,
                                    struct task_struct *prev,
                                    struct task_struct *next) {
  __u64 now = bpf_ktime_get_ns();

  if ((preempt || task_state(prev) == TASK_RUNNING) && prev->pid) {
    struct latency_start *start = latency_start_of(keeper, prev);
    if (start) {
      start->check = latency_switches(prev);
      start->ns = now;
    }
  }
  if (!next->pid)
    return 0;
  __u64 since = latency_take_start(keeper, next, latency_switches(next), NULL);
  if (!since)
    return 0;
  if (!latency_wants(next)) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  latency_record_span(latency_group_of(next, 0, 0), 0, since, now);
  return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task) {
  return woken(IN_TASK, task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task) {
  return woken(IN_TASK, task);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev,
             struct task_struct *next) {
  return switched(IN_TASK, preempt, prev, next);
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup_by_pid, struct task_struct *task) {
  return woken(BY_PID, task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new_by_pid, struct task_struct *task) {
  return woken(BY_PID, task);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch_by_pid, bool preempt, struct task_struct *prev,
             struct task_struct *next) {
  return switched(BY_PID, preempt, prev, next);
}
