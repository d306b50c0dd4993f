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

#include <linux/perf_event.h>

enum { KIND_MINOR, KIND_MAJOR };

#define MINOR_FAULTS PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN
#define MAJOR_FAULTS PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "memlat",
    .help = "Page faults: taken to handled",
    .labels = {{.name = "kind",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "minor major"}},
    .rungs = {{.name = "tp_btf+perf_event",
               .programs = "page_faults_min page_faults_maj page_fault_user "
                           "page_fault_kernel",
               .maps = LATENCY_IN_TASK},
              {.name = "tp_btf+perf+hash",
               .programs =
                   "page_faults_min_by_pid page_faults_maj_by_pid "
                   "page_fault_user_by_pid page_fault_kernel_by_pid forget_pid",
               .maps = LATENCY_BY_PID}},
    .perf_events = {{"page_faults_min", MINOR_FAULTS},
                    {"page_faults_maj", MAJOR_FAULTS},
                    {"page_faults_min_by_pid", MINOR_FAULTS},
                    {"page_faults_maj_by_pid", MAJOR_FAULTS}},
};

static __always_inline int taken(enum latency_keeper keeper) {
  struct latency_start *start = latency_start_of_current(keeper);
  if (start)
    start->ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int handled(enum latency_keeper keeper, __u32 kind) {
  __u64 now = bpf_ktime_get_ns();
  __u64 since = latency_take_start_of_current(keeper, NULL);
  if (!since)
    return 0;
  if (!latency_wants_current()) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  latency_record_span(latency_group_of_current(kind, 0), 0, since, now);
  return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault_user) { return taken(IN_TASK); }

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel) { return taken(IN_TASK); }

SEC("perf_event")
int page_faults_min(void *ctx) { return handled(IN_TASK, KIND_MINOR); }

SEC("perf_event")
int page_faults_maj(void *ctx) { return handled(IN_TASK, KIND_MAJOR); }

SEC("tp_btf/page_fault_user")
int BPF_PROG(page_fault_user_by_pid) { return taken(BY_PID); }

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(page_fault_kernel_by_pid) { return taken(BY_PID); }

SEC("perf_event")
int page_faults_min_by_pid(void *ctx) { return handled(BY_PID, KIND_MINOR); }

SEC("perf_event")
int page_faults_maj_by_pid(void *ctx) { return handled(BY_PID, KIND_MAJOR); }
