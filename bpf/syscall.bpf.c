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
    .rungs = {{"tp_btf", "sys_exit sys_enter"}},
};

/*
 * A 32-bit program's numbers are another table's. Only x86 can tell here:
 * elsewhere the field is missing and every call counts as native.
 */
static __always_inline __u32 call_number(struct task_struct *task, long id) {
  __u32 number = id;
  if (number >= LATENCY_SYSCALL_COMPAT)
    number = LATENCY_SYSCALL_COMPAT - 1;
  if (bpf_core_field_exists(task->thread_info.status) &&
      task->thread_info.status & TS_COMPAT)
    number |= LATENCY_SYSCALL_COMPAT;
  return number;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id) {
  struct task_struct *task = bpf_get_current_task_btf();
  struct latency_start *start = latency_start_of(task);
  if (!start)
    return 0;
  if (latency_config.group_by & 1 || latency_config.values)
    start->value = call_number(task, id);
  start->ns = bpf_ktime_get_ns();
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long ret) {
  __u64 now = bpf_ktime_get_ns();
  struct task_struct *task = bpf_get_current_task_btf();
  __u32 number = 0;
  __u64 since = latency_take_start(task, 0, &number);
  if (!since)
    return 0;
  if (!latency_wants(task) || !latency_wants_value(number)) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  latency_record_span(latency_group_of(task, number, 0), 0, since, now);
  return 0;
}
