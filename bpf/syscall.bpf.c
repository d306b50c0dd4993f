/* SPDX-License-Identifier: MIT */
/*
 * System calls: from entry to exit, of all of them or of those named. A call
 * that does not return (exit) ends nothing; a child's first return from fork
 * has no start and is counted as unmatched.
 */
#include "task.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "syscall",
    .help = "System calls: entry to exit",
    .labels = {{.name = "syscall",
                .option = "Syscall",
                .decoder = LATENCY_DECODE_SYSCALL,
                .optional = 1}},
    .rungs = {{.name = "tp_btf",
               .programs = "sys_exit sys_enter",
               .maps = LATENCY_IN_TASK},
              {.name = "tp_btf+hash",
               .programs = "sys_exit_by_pid sys_enter_by_pid forget_pid",
               .maps = LATENCY_BY_PID}},
};

/*
 * A 32-bit program's numbers are another table's. Only x86 can tell here:
 * elsewhere the field is missing and every call counts as native.
 */
static __always_inline __u32 call_number(long id) {
  struct task_struct *task = (struct task_struct *)bpf_get_current_task();
  __u32 number = id;
  if (number >= LATENCY_SYSCALL_COMPAT)
    number = LATENCY_SYSCALL_COMPAT - 1;
  if (bpf_core_field_exists(task->thread_info.status) &&
      BPF_CORE_READ(task, thread_info.status) & TS_COMPAT)
    number |= LATENCY_SYSCALL_COMPAT;
  return number;
}

static __always_inline int entered(enum latency_keeper keeper, long id) {
  struct latency_start *start = latency_start_of_current(keeper);
  if (!start)
    return 0;
  if (latency_config.group_by & 1 || latency_config.values)
    start->value = call_number(id);
  start->ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int left(enum latency_keeper keeper) {
  __u64 now = bpf_ktime_get_ns();
  __u32 number = 0;
  __u64 since = latency_take_start_of_current(keeper, &number);
  if (!since)
    return 0;
  if (!latency_wants_current() || !latency_wants_value(number)) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  latency_record_span(latency_group_of_current(number, 0), 0, since, now);
  return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id) {
  return entered(IN_TASK, id);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit) { return left(IN_TASK); }

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter_by_pid, struct pt_regs *regs, long id) {
  return entered(BY_PID, id);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit_by_pid) { return left(BY_PID); }
