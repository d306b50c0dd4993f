/* SPDX-License-Identifier: MIT */
/*
 * Hardware interrupts: a device's handler entered to left. A line that several
 * devices share runs the handlers of all, one after the other, each an event.
 * Interrupts without a handler of their own (the CPU's timer, inter-processor
 * interrupts) are not among them.
 */
#include "latency.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .name = "hardirq",
    .help = "Hardware interrupts: handler entered to left",
    .labels = {{.name = "irq", .decoder = LATENCY_DECODE_IRQ}},
    .rungs = {{.name = "tp_btf",
               .programs = "irq_handler_exit irq_handler_entry"}},
};

struct hardirq_start {
  __u64 ns; /* 0: no handler runs */
  __u32 irq;
  __u32 reserved;
};

/* Handlers run with interrupts off: they do not nest on a CPU. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct hardirq_start);
} starts SEC(".maps");

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq) {
  __u32 key = 0;
  struct hardirq_start *start = bpf_map_lookup_elem(&starts, &key);
  if (start) {
    start->irq = irq;
    start->ns = bpf_ktime_get_ns();
  }
  return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq) {
  __u64 now = bpf_ktime_get_ns();
  __u32 key = 0;
  struct hardirq_start *start = bpf_map_lookup_elem(&starts, &key);
  if (!start || !start->ns || start->irq != (__u32)irq) {
    latency_lose(LATENCY_LOST_UNMATCHED);
    return 0;
  }
  latency_record_span(latency_group(NULL, irq, 0), 0, start->ns, now);
  start->ns = 0;
  return 0;
}
