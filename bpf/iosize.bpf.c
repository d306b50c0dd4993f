/* SPDX-License-Identifier: MIT */
/*
 * Sizes of block I/O requests, in bytes, as they are issued to the driver:
 * after merging and splitting. Requests that carry no data (flushes) have none.
 */
#include "latency.bpf.h"

#include "compat.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_BYTES,
    .has_task = 1,
    .name = "iosize",
    .help = "Block I/O: bytes of a request when it is issued",
    .labels = {{.name = "device", .decoder = LATENCY_DECODE_DEVICE},
               {.name = "op",
                .decoder = LATENCY_DECODE_ENUM,
                .values = REQUEST_OPS}},
    .rungs = {{.name = "tp_btf", .programs = "block_rq_issue"}},
};

/* Mostly in the submitter's context; else in that of the kernel thread that
 * issues for it. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *rq) {
  if (!rq->__data_len)
    return 0;
  if (!latency_wants_current()) {
    latency_lose(LATENCY_LOST_FILTERED);
    return 0;
  }
  latency_record(latency_group_of_current(request_device(rq), request_op(rq)),
                 0, rq->__data_len);
  return 0;
}
