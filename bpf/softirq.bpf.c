/* SPDX-License-Identifier: MIT */
/*
 * Soft interrupts: raised to entered (wait) and entered to left (service), by
 * vector. All three happen on one CPU and do not nest there, so the stamps are
 * that CPU's.
 */
#include "latency.bpf.h"

enum { PHASE_WAIT, PHASE_SERVICE, PHASES };

/* Ten are in use; a power of two, so that a mask is a bound. */
#define VECTORS 16

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .name = "softirq",
    .help = "Soft interrupts: raised to entered to left",
    .labels = {{.name = "vector",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "hi timer net_tx net_rx block irq_poll tasklet sched "
                          "hrtimer rcu"},
               {.name = "phase",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "wait service",
                .inner = PHASES}},
    .rungs = {{.name = "tp_btf",
               .programs = "softirq_exit softirq_entry softirq_raise"}},
};

struct softirq_stamps {
  __u64 raised_ns[VECTORS]; /* 0: not pending */
  __u64 entered_ns;         /* 0: none is served */
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct softirq_stamps);
} stamps SEC(".maps");

static __always_inline struct softirq_stamps *this_cpu_stamps(void) {
  __u32 key = 0;
  return bpf_map_lookup_elem(&stamps, &key);
}

/* One that is raised again before it runs has waited since the first time. */
SEC("tp_btf/softirq_raise")
int BPF_PROG(softirq_raise, unsigned int vector) {
  struct softirq_stamps *cpu = this_cpu_stamps();
  if (cpu && !cpu->raised_ns[vector % VECTORS])
    cpu->raised_ns[vector % VECTORS] = bpf_ktime_get_ns();
  return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_entry, unsigned int vector) {
  __u64 now = bpf_ktime_get_ns();
  struct softirq_stamps *cpu = this_cpu_stamps();
  if (!cpu)
    return 0;
  __u64 raised = cpu->raised_ns[vector % VECTORS];
  cpu->raised_ns[vector % VECTORS] = 0;
  cpu->entered_ns = now;
  if (latency_config.inner != PHASES)
    return 0;
  if (raised)
    latency_record_span(latency_group(NULL, vector, 0), PHASE_WAIT, raised,
                        now);
  else
    latency_lose(LATENCY_LOST_UNMATCHED);
  return 0;
}

/* Without the label phase, service is what is measured. */
SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_exit, unsigned int vector) {
  __u64 now = bpf_ktime_get_ns();
  struct softirq_stamps *cpu = this_cpu_stamps();
  if (!cpu)
    return 0;
  __u64 entered = cpu->entered_ns;
  cpu->entered_ns = 0;
  if (!entered) {
    latency_lose(LATENCY_LOST_UNMATCHED);
    return 0;
  }
  latency_record_span(latency_group(NULL, vector, 0),
                      latency_config.inner == PHASES ? PHASE_SERVICE : 0,
                      entered, now);
  return 0;
}
