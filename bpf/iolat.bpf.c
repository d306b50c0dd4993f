/* SPDX-License-Identifier: MIT */
/*
 * Block I/O requests: queued to issued to the driver to completed, as queue,
 * device and total, each measured on its own. Counts what /proc/diskstats
 * counts: whole requests, at their last completion.
 *
 * The kernel stamps requests itself, at allocation and, on queues that keep
 * statistics, at issue: then nothing is stored per request. What it does not
 * stamp, and whose request it is where that is asked for, is kept in a hash
 * under the request's address.
 */
#include "latency.bpf.h"

#include "compat.bpf.h"

enum { PHASE_QUEUE, PHASE_DEVICE, PHASE_TOTAL, PHASES };

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "iolat",
    .help = "Block I/O: queued to issued to completed",
    .labels = {{.name = "device", .decoder = LATENCY_DECODE_DEVICE},
               {.name = "op",
                .decoder = LATENCY_DECODE_ENUM,
                .values = REQUEST_OPS},
               {.name = "phase",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "queue device total",
                .inner = PHASES}},
    .rungs = {{.name = "tp_btf",
               .programs = "block_rq_complete block_rq_issue block_io_start"},
              {.name = "tp_btf+insert",
               .programs = "block_rq_complete block_rq_issue block_rq_insert"}},
};

struct iolat_request {
  __u64 allocated_ns; /* the request's own start_time_ns: is it still it? */
  __u64 started_ns;
  __u64 issued_ns;
  __u32 wanted;
  __u32 reserved;
  char comm[LATENCY_COMM_LEN];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 10240);
  __type(key, __u64);
  __type(value, struct iolat_request);
} requests SEC(".maps");

/*
 * Devices that are known to stamp the issue: it is seen at a completion, and
 * told at the next issue, before the kernel has stamped that one. A collision
 * only costs an entry in the hash that was not needed.
 */
#define STAMPING_SLOTS 64
__u32 stamping[STAMPING_SLOTS];

static __always_inline bool by_task(void) {
  return latency_config.group_by & LATENCY_GROUP_BY_COMM ||
         latency_config.pids || latency_config.comms;
}

/* Whoever runs now is the one who asks. */
static __always_inline void remember(struct request *rq, __u64 issued_ns) {
  struct iolat_request state = {
      .allocated_ns = rq->start_time_ns,
      .started_ns = rq->start_time_ns ?: bpf_ktime_get_ns(),
      .issued_ns = issued_ns,
      .wanted = latency_wants_current(),
  };
  if (latency_config.group_by & LATENCY_GROUP_BY_COMM)
    bpf_get_current_comm(state.comm, sizeof(state.comm));
  __u64 key = (__u64)rq;
  if (bpf_map_update_elem(&requests, &key, &state, BPF_ANY))
    latency_lose(LATENCY_LOST_MAP_FULL);
}

/* In the submitter's context, before any queue. */
SEC("tp_btf/block_io_start")
int BPF_PROG(block_io_start, struct request *rq) {
  if (by_task() || !rq->start_time_ns)
    remember(rq, 0);
  return 0;
}

/* Before 6.5 there is no block_io_start; a request that waits in no scheduler
 * is first seen when it is issued. */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_rq_insert, struct request *rq) {
  if (by_task() || !rq->start_time_ns)
    remember(rq, 0);
  return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *rq) {
  __u32 device = request_device(rq);
  if (!by_task() && rq->start_time_ns &&
      stamping[device % STAMPING_SLOTS] == device)
    return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 key = (__u64)rq;
  struct iolat_request *state = bpf_map_lookup_elem(&requests, &key);
  /* Left by a request that was merged into another: this is a new one. */
  if (!state || state->allocated_ns != rq->start_time_ns)
    remember(rq, now);
  else
    state->issued_ns = now;
  return 0;
}

/* An empty write that asks for a flush is never issued itself: the flush that
 * the block layer makes of it is, and stands under its own op. */
static __always_inline void completed(struct iolat_request *seen, __u32 device,
                                      __u32 op, __u32 bytes, __u64 now) {
  if (!seen->started_ns) {
    latency_lose(LATENCY_LOST_UNMATCHED);
    return;
  }
  if (!seen->wanted) {
    latency_lose(LATENCY_LOST_FILTERED);
    return;
  }
  __u32 group = latency_group(seen->comm, device, op);
  if (latency_config.inner != PHASES) {
    latency_record_span(group, 0, seen->started_ns, now);
    return;
  }
  latency_record_span(group, PHASE_TOTAL, seen->started_ns, now);
  if (!seen->issued_ns) {
    if (bytes)
      latency_lose(LATENCY_LOST_UNMATCHED);
    return;
  }
  /* The kernel's stamps may come from a clock reading that tasks share among
   * the requests of a batch (commit da4c8c3d0975 "block: cache current nsec
   * time in struct blk_plug"): then no time passed that it could tell. */
  if (seen->issued_ns < seen->started_ns)
    seen->issued_ns = seen->started_ns;
  latency_record_span(group, PHASE_QUEUE, seen->started_ns, seen->issued_ns);
  latency_record_span(group, PHASE_DEVICE, seen->issued_ns, now);
}

/* Fires for each part of a request that completes: only the last one counts. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request *rq, int error,
             unsigned int nr_bytes) {
  __u64 now = bpf_ktime_get_ns();
  __u32 op = request_op(rq);
  if (nr_bytes < rq->__data_len ||
      (op != REQ_OP_FLUSH && request_in_flush_sequence(rq)))
    return 0;

  __u32 device = request_device(rq);
  __u32 *stamps = &stamping[device % STAMPING_SLOTS];
  bool kept = by_task() || *stamps != device || !rq->io_start_time_ns;
  __u64 key = (__u64)rq;
  struct iolat_request seen = {
      .started_ns = by_task() ? 0 : rq->start_time_ns,
      .wanted = 1,
  };
  if (kept) {
    struct iolat_request *state = bpf_map_lookup_elem(&requests, &key);
    if (state && state->allocated_ns == rq->start_time_ns)
      seen = *state;
    bpf_map_delete_elem(&requests, &key);
    *stamps = rq->io_start_time_ns ? device : 0;
  }
  if (rq->io_start_time_ns)
    seen.issued_ns = rq->io_start_time_ns;
  completed(&seen, device, op, nr_bytes, now);
  return 0;
}
