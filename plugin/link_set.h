/* SPDX-License-Identifier: MIT */
/*
 * What keeps a probe's programs attached: a link for each, or, for a program
 * on a perf event, one for each CPU. Part of probe.c's work with libbpf.
 */
#ifndef LINK_SET_H
#define LINK_SET_H

#include "latency_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_program;

struct link_set {
  struct bpf_link **links;
  size_t num;
};

/* The function that programs hang on whose section names none. */
struct link_function {
  const char *symbol;
  const char *path; /* of the file that it is in; NULL: the kernel */
  uint64_t offset;  /* in that file */
  int pid;          /* only of this process; -1: of all */
};

/* What a program hangs on, as its section says. */
enum link_kind {
  LINK_OTHER, /* what the section names, or a perf event */
  LINK_USER_FUNCTION,
  LINK_KERNEL_FUNCTION,
};
enum link_kind link_set__kind(const struct bpf_program *program);

/* Before the load: what the kernel has to know of the function by then. */
int link_set__prepare(struct bpf_program *program,
                      const struct link_function *function);

/*
 * Attaches a loaded program to what its section names; when that is of a kind
 * that names none, to `function`; when it is of type perf_event, to the event
 * that `desc` has for it, on each of the `cpus` CPUs that is online. Returns 0
 * or -errno; what was attached so far stays in the set.
 */
int link_set__attach(struct link_set *set, const struct bpf_program *program,
                     const struct latency_description *desc, uint32_t cpus,
                     const struct link_function *function);

/* Detaches all; the set is empty then. */
void link_set__free(struct link_set *set);

#endif
