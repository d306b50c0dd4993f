/* SPDX-License-Identifier: MIT */
/*
 * A probe for the tests of the ladder, and of a probe that is no part of the
 * project: its first rung is on no kernel, its second on most, its third on
 * all. It counts one page, in bytes, for each umask(2) call.
 */
#include "latency.bpf.h"

#include <asm/unistd.h>

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_BYTES,
    .has_task = 1,
    .name = "ladder",
    .help = "One page for each umask(2)",
    .rungs = {{.name = "nowhere", .programs = "no_such_hook"},
              {.name = "fentry", .programs = "do_umask"},
              {.name = "tp_btf", .programs = "sys_enter"}},
};

static __always_inline void count(void) {
  struct task_struct *task = bpf_get_current_task_btf();
  if (latency_wants(task))
    latency_record(latency_group_of(task, 0, 0), 0, 4096);
  else
    latency_lose(LATENCY_LOST_FILTERED);
}

SEC("tp_btf/latency_no_such_hook")
int BPF_PROG(no_such_hook) { return 0; }

SEC("fentry/__x64_sys_umask")
int BPF_PROG(do_umask) {
  count();
  return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id) {
  if (id == __NR_umask)
    count();
  return 0;
}
