/* SPDX-License-Identifier: MIT */
/*
 * One probe in the kernel: load the best rung that works, attach it, read it,
 * take it down. With hist_map.c the only user of libbpf.
 */
#ifndef PROBE_H
#define PROBE_H

#include "hist_map.h"
#include "latency_abi.h"

#include <stddef.h>
#include <stdint.h>

#define PROBE_ERROR_LEN 768

struct probe;

/* libbpf's own messages, without the newline. `warning` or only for debug. */
typedef void probe_log_fn(int warning, const char *message);

/* Where they go: process-wide, as libbpf has it. */
void probe__set_log(probe_log_fn *fn);

struct description_image;

/* What is to be started. All of it is only borrowed for the call. */
struct probe_order {
  const struct description_image *image; /* the object file */
  const struct latency_description *desc;
  struct latency_config config; /* filters, grouping; not `cpus` */
  uint32_t groups;              /* label sets with rows; 0: not grouped */
  const char *rung;             /* only this one; "": the first that works */
};

/*
 * Loads and attaches a rung. Returns 0, or -errno and in `err` one sentence:
 * what failed on each rung, and what is missing.
 */
int probe__start(const struct probe_order *order, struct probe **ret_probe,
                 char *err, size_t err_size);

/* The name of the rung that measures. */
const char *probe__rung(const struct probe *probe);

/* Its histograms; belongs to the probe. */
struct hist_map *probe__hist_map(struct probe *probe);

/* Events the kernel did not give to our programs: recursion. Since load. */
uint64_t probe__missed(const struct probe *probe);

/* Bytes of kernel memory of the maps. */
uint64_t probe__memory(const struct probe *probe);

/* Detaches and frees. NULL is fine. */
void probe__free(struct probe *probe);

#endif
