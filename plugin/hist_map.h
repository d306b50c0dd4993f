/* SPDX-License-Identifier: MIT */
/*
 * Kernel rows -> histograms. Maps the rows of a loaded probe into memory and
 * reads them with no system call. Knows libbpf and the ABI, no names.
 */
#ifndef HIST_MAP_H
#define HIST_MAP_H

#include "hist.h"
#include "latency_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_object;
struct hist_map;

/* One label set: all CPUs together. */
struct hist_set {
  struct latency_key key;
  uint32_t inner;        /* the inner label's value, 0 without one */
  bool other;            /* what had no group of its own */
  struct hist total;     /* since load; only grows */
  struct hist interval;  /* between the last two reads */
  uint64_t interval_max; /* 0 when the interval is empty */
};

/*
 * Maps the maps of a loaded object. `groups` is how many label sets have rows
 * beside group 0, 0 when ungrouped. Returns 0 or -errno.
 */
int hist_map__open(struct bpf_object *object, uint32_t cpus, uint32_t groups,
                   uint32_t inner, struct hist_map **ret_map);

/* Ends the interval. 0, or -ENOMEM: a new label set had to wait. */
int hist_map__read(struct hist_map *map);

/*
 * The label sets, in the order in which they were first seen. An ungrouped
 * probe has its one set (one per inner value) from the first read on, a
 * grouped one those that had an event.
 */
size_t hist_map__sets(const struct hist_map *map);
const struct hist_set *hist_map__set(const struct hist_map *map, size_t i);

/* A counter of the ledger, all CPUs together, since load. */
uint64_t hist_map__lost(const struct hist_map *map, enum latency_lost reason);

void hist_map__free(struct hist_map *map);

#endif
