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
  __u64 stamp_ns; /* the request's own start_time_ns then: is it still it? */
  __u64 started_ns;
  __u64 issued_ns;
  __u32 wanted;
  __u32 reserved;
  char comm[LATENCY_COMM_LEN];
};

/* The rung: does block_io_start show every request before it is queued? */
enum sight { FROM_START, FROM_INSERT };

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 10240);
  __type(key, __u64);
  __type(value, struct iolat_request);
} requests SEC(".maps");

/*
 * Devices that are known to stamp start and issue: it is seen at a completion,
 * and told at the next request, before the kernel has stamped that one. A
 * collision only costs an entry in the hash that was not needed.
 */
#define STAMPING_SLOTS 64
__u32 stamping[STAMPING_SLOTS];

static __always_inline bool by_task(void) {
  return latency_config.group_by & LATENCY_GROUP_BY_COMM ||
         latency_config.pids || latency_config.comms;
}

static __always_inline bool is_stamping(__u32 device) {
  return stamping[device % STAMPING_SLOTS] == device;
}

/* Whoever runs now is the one who asks. */
static __always_inline void remember(struct request *rq, __u64 issued_ns) {
  struct iolat_request state = {
      .stamp_ns = rq->start_time_ns,
      .started_ns = request_is_stamped(rq) ? rq->start_time_ns
                                           : issued_ns ?: bpf_ktime_get_ns(),
      .issued_ns = issued_ns,
      .wanted = latency_wants_current(),
  };
  if (latency_config.group_by & LATENCY_GROUP_BY_COMM)
    bpf_get_current_comm(state.comm, sizeof(state.comm));
  __u64 key = (__u64)rq;
  if (bpf_map_update_elem(&requests, &key, &state, BPF_ANY))
    latency_lose(LATENCY_LOST_MAP_FULL);
}

/* In the submitter's context, before any queue, and before 6.12 after, since
 * then before, the kernel's own stamp. */
SEC("tp_btf/block_io_start")
int BPF_PROG(block_io_start, struct request *rq) {
  if (by_task() || !is_stamping(request_device(rq)))
    remember(rq, 0);
  return 0;
}

/* Before 6.5 there is no block_io_start; a request that waits in no scheduler
 * is first seen when it is issued. */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_rq_insert, struct request *rq) {
  if (by_task() || !request_is_stamped(rq))
    remember(rq, 0);
  return 0;
}

/*
 * Is what is kept under the request's address of this request? One that was
 * merged into another leaves its entry behind. Where every request is seen from
 * its start, that has overwritten it, but for those that have no start: flushes
 * of the block layer's own, and what passes through.
 */
static __always_inline bool is_of(struct iolat_request *state,
                                  struct request *rq, enum sight sight) {
  __u32 op = rq->cmd_flags & REQ_OP_MASK;
  if (sight == FROM_START)
    return op != REQ_OP_FLUSH && op < REQ_OP_DRV_IN;
  return state->stamp_ns == rq->start_time_ns;
}

static __always_inline int issued(struct request *rq, enum sight sight) {
  if (!by_task() && request_is_stamped(rq) && is_stamping(request_device(rq)))
    return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 key = (__u64)rq;
  struct iolat_request *state = bpf_map_lookup_elem(&requests, &key);
  if (state && is_of(state, rq, sight))
    state->issued_ns = now;
  else
    remember(rq, now);
  return 0;
}

/* An empty write that asks for a flush is never issued itself: the flush that
 * the block layer makes of it is, and stands under its own op. */
static __always_inline void record(struct iolat_request *seen, __u32 device,
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
static __always_inline int completed(struct request *rq, __u32 bytes,
                                     enum sight sight) {
  __u64 now = bpf_ktime_get_ns();
  __u32 op = request_op(rq);
  if (bytes < rq->__data_len ||
      (op != REQ_OP_FLUSH && request_in_flush_sequence(rq)))
    return 0;

  const __u32 device = request_device(rq);
  const bool stamped = request_is_stamped(rq);
  struct iolat_request seen = {.wanted = !by_task()};
  if (by_task() || !stamped || !rq->io_start_time_ns || !is_stamping(device)) {
    __u64 key = (__u64)rq;
    struct iolat_request *state = bpf_map_lookup_elem(&requests, &key);
    if (state && (sight == FROM_START || is_of(state, rq, sight)))
      seen = *state;
    bpf_map_delete_elem(&requests, &key);
    stamping[device % STAMPING_SLOTS] =
        stamped && rq->io_start_time_ns ? device : 0;
    if (by_task() && !state) {
      latency_lose(LATENCY_LOST_UNMATCHED);
      return 0;
    }
  }
  if (stamped)
    seen.started_ns = rq->start_time_ns;
  if (rq->io_start_time_ns)
    seen.issued_ns = rq->io_start_time_ns;
  record(&seen, device, op, bytes, now);
  return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *rq) {
  return issued(rq, FROM_START);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue_inserted, struct request *rq) {
  return issued(rq, FROM_INSERT);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request *rq, int error,
             unsigned int bytes) {
  return completed(rq, bytes, FROM_START);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete_inserted, struct request *rq, int error,
             unsigned int bytes) {
  return completed(rq, bytes, FROM_INSERT);
}
