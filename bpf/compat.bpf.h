/* SPDX-License-Identifier: MIT */
/*
 * One small function for each thing that kernels do differently: asked of BTF
 * when the object is loaded, never of a version number.
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

#include "kernel.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/*
 * A request that is one step of a flush sequence: it is completed once a step
 * and once more at the end, and only the end is its completion.
 *
 * RQF_FLUSH_SEQ was the macro (1 << 4), which BTF does not know, until newer
 * kernels made the flags an enumeration and numbered them anew.
 */
static __always_inline bool request_in_flush_sequence(struct request *rq) {
  __u32 bit = 4;
  if (bpf_core_enum_value_exists(enum rqf_flags, __RQF_FLUSH_SEQ))
    bit = bpf_core_enum_value(enum rqf_flags, __RQF_FLUSH_SEQ);
  return rq->rq_flags & (1u << bit);
}

#endif
