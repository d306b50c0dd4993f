/* SPDX-License-Identifier: MIT */
/*
 * What keeps a probe's programs attached: a link for each, or, for a program
 * on a perf event, one for each CPU. Part of probe.c's work with libbpf.
 */
#ifndef LINK_SET_H
#define LINK_SET_H

#include "latency_abi.h"

#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_program;

struct link_set {
  struct bpf_link **links;
  size_t num;
};

/*
 * Attaches a loaded program to what its section names or, when it is of type
 * perf_event, to the event that `desc` has for it, on each of the `cpus` CPUs
 * that is online. Returns 0 or -errno; what was attached so far stays in the
 * set.
 */
int link_set__attach(struct link_set *set, const struct bpf_program *program,
                     const struct latency_description *desc, uint32_t cpus);

/* Detaches all; the set is empty then. */
void link_set__free(struct link_set *set);

#endif
