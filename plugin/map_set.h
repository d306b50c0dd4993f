/* SPDX-License-Identifier: MIT */
/*
 * The maps that every probe's object has (latency.bpf.h): their sizes, and
 * which objects share them. Part of probe.c's work with libbpf.
 */
#ifndef MAP_SET_H
#define MAP_SET_H

#include "latency_abi.h"

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;

/* All below: 0 or -errno. */

/* Before the load: sizes and constants. -ENOEXEC: it has not these maps. */
int map_set__size(struct bpf_object *object,
                  const struct latency_config *config, uint32_t groups);

/* Before the load: it counts where `owner`, which is loaded, counts. */
int map_set__share(struct bpf_object *object, const struct bpf_object *owner);

/* After the load of an owner: the groups that its programs may take. */
int map_set__fill(struct bpf_object *object, uint32_t groups);

/* Bytes of kernel memory; `is_owner`: those of the shared maps, too. */
uint64_t map_set__memory(const struct bpf_object *object, bool is_owner);

/* What the rows will take of them. */
uint64_t map_set__rows_bytes(const struct latency_config *config,
                             uint32_t groups);

#endif
