/* SPDX-License-Identifier: MIT */
/*
 * Page faults: from the exception until the fault has been handled. The end is
 * a software perf event, which the kernel counts once a fault is done, and
 * only once however often it had to retry; it needs neither kprobe nor fentry.
 *
 * A fault that could not be handled (SIGSEGV, or a fix-up in the kernel) has
 * no end; the task's next fault takes its place.
 */
#include "task.bpf.h"

enum { KIND_MINOR, KIND_MAJOR };

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "memlat",
    .help = "Page faults: taken to handled",
    .labels = {{.name = "kind",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "minor major"}},
    .rungs = {{"tp_btf+perf_event", "page_faults_min page_faults_maj "
                                    "page_fault_user page_fault_kernel"}},
    .perf_events = {{"page_faults_min", 1 /* PERF_TYPE_SOFTWARE */,
                     5 /* PERF_COUNT_SW_PAGE_FAULTS_MIN */},
                    {"page_faults_maj", 1 /* PERF_TYPE_SOFTWARE */,
                     6 /* PERF_COUNT_SW_PAGE_FAULTS_MAJ */}},
};

static __always_inline int taken(void) {
  struct latency_start *start = latency_start_of(bpf_get_current_task_btf());
  if (start)
    start->ns = bpf_ktime_get_ns();
  return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault_user) { return taken(); }

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel) { return taken(); }

static __always_inline int handled(__u32 kind) {
  __u64 now = bpf_ktime_get_ns();
  struct task_struct *task = bpf_get_current_task_btf();
  __u64 since = latency_take_start(task, 0, NULL);
  if (!since)
    return 0;
  if (!latency_wants(task)) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  latency_record_span(latency_group_of(task, kind, 0), 0, since, now);
  return 0;
}

SEC("perf_event")
int page_faults_min(void *ctx) { return handled(KIND_MINOR); }

SEC("perf_event")
int page_faults_maj(void *ctx) { return handled(KIND_MAJOR); }
