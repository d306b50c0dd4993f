/* SPDX-License-Identifier: MIT */
/*
 * One rung of a probe in the kernel: its object loaded, its programs attached.
 * Part of probe.c's work with libbpf.
 */
#ifndef RUNG_H
#define RUNG_H

#include "description.h"
#include "latency_abi.h"
#include "link_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_object;

struct rung {
  const struct latency_rung *says; /* of the description */
  struct bpf_object *object;
  struct link_set links;
  struct link_set function_links; /* on the function, in the file of now */
  struct link_set old_links;      /* in the file that this one replaced */
};

struct rung_order {
  const struct description_image *image;
  const struct latency_description *desc;
  struct latency_config config;
  uint32_t groups;
  const struct link_function *function; /* NULL: the sections name them */
  const struct rung *sharer; /* it counts into the rows of this one, or NULL */
};

/* Loads and attaches. 0; -errno and what failed; -ENOTSUP and nothing in `why`
 * when the rung is for functions of the other kind. */
int rung__start(const struct rung_order *order, const struct latency_rung *says,
                struct rung **ret_rung, char *why, size_t why_size);

/*
 * Attaches to the function as it is in another file, beside the one of before:
 * programs that run have that one mapped. `same_file`: it was written anew in
 * its place, where the old offsets mean nothing. On failure all is as before.
 */
int rung__follow(struct rung *rung, const struct rung_order *order,
                 bool same_file, char *why, size_t why_size);

/* Events the kernel did not give to its programs: recursion. Since load. */
uint64_t rung__missed(const struct rung *rung);

/* Detaches and frees. NULL is fine. */
void rung__free(struct rung *rung);

#endif
