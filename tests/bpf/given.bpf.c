/* SPDX-License-Identifier: MIT */
/*
 * A probe for the tests of the recording itself, as the verifier lets it
 * through: it counts the values that it is given. System call 1000, which no
 * kernel has, carries a value; 1001 a span that ends that much before it
 * began.
 */
#include "latency.bpf.h"

/* x86-64: the first argument of a system call. */
struct pt_regs {
  unsigned long di;
} __attribute__((preserve_access_index));

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "given",
    .help = "Values given by system call 1000",
    .rungs = {{.name = "tp_btf", .programs = "sys_enter"}},
};

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id) {
  if (id != 1000 && id != 1001)
    return 0;
  struct task_struct *task = bpf_get_current_task_btf();
  if (!latency_wants(task)) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  __u32 group = latency_group_of(task, 0, 0);
  __u64 value = regs->di;
  if (id == 1000)
    latency_record(group, 0, value);
  else
    latency_record_span(group, 0, value, 0);
  return 0;
}
