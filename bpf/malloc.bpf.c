/* SPDX-License-Identifier: MIT */
/*
 * Allocations: malloc() entered to returned, of the C library or of whatever
 * Binary and Symbol name. A thread is in one at a time: where a signal's
 * handler allocates in the middle of one, the handler's is counted, and the
 * other has lost its start.
 */
#include "task.bpf.h"

#include <linux/ptrace.h>

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .target = LATENCY_TARGET_LIBC_FUNCTION,
    .name = "malloc",
    .help = "Allocations: malloc entered to returned",
    .warning = "each call costs about a microsecond, in every process that "
               "uses this library, whatever Process says; one Pid spares the "
               "others",
    .symbol = "malloc",
    .labels = {{.name = "size",
                .decoder = LATENCY_DECODE_POWER,
                .optional = 1}},
    .rungs = {{.name = "uprobe",
               .programs = "malloc_return malloc_entry",
               .maps = LATENCY_IN_TASK},
              {.name = "uprobe+hash",
               .programs =
                   "malloc_return_by_pid malloc_entry_by_pid forget_pid",
               .maps = LATENCY_BY_PID}},
};

/* Nothing is kept for who is not asked for. */
static __always_inline int entered(enum latency_keeper keeper,
                                   struct pt_regs *regs) {
  if (!latency_wants_current())
    return 0;
  struct latency_start *start = latency_start_of_current(keeper);
  if (!start)
    return 0;
  if (latency_config.group_by & 1)
    start->value = latency_power_class(PT_REGS_PARM1(regs));
  start->ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int returned(enum latency_keeper keeper) {
  __u64 now = bpf_ktime_get_ns();
  __u32 size = 0;
  if (!latency_wants_current()) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  __u64 since = latency_take_start_of_current(keeper, &size);
  if (since)
    latency_record_span(latency_group_of_current(size, 0), 0, since, now);
  return 0;
}

SEC("uprobe")
int malloc_entry(struct pt_regs *ctx) { return entered(IN_TASK, ctx); }

SEC("uretprobe")
int malloc_return(struct pt_regs *ctx) { return returned(IN_TASK); }

SEC("uprobe")
int malloc_entry_by_pid(struct pt_regs *ctx) { return entered(BY_PID, ctx); }

SEC("uretprobe")
int malloc_return_by_pid(struct pt_regs *ctx) { return returned(BY_PID); }
