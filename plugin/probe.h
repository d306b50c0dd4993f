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

/*
 * Loads and attaches the first rung of the object that works. `config`
 * holds filters and grouping (its `cpus` is found out here); `groups` is the
 * number of label sets with rows of their own. Returns 0, or -errno and in
 * `err` one sentence: what failed on each rung, and what is missing.
 */
int probe__start(const struct description_image *image,
                 const struct latency_description *desc,
                 const struct latency_config *config, uint32_t groups,
                 struct probe **ret_probe, char *err, size_t err_size);

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
