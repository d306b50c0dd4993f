/* SPDX-License-Identifier: MIT */
/*
 * One probe in the kernel: load the best rung that works, attach it, read it,
 * take it down. A probe on functions has a rung for each, and all count into
 * the same rows. With rung.c, link_set.c and hist_map.c the only users of
 * libbpf.
 */
#ifndef PROBE_H
#define PROBE_H

#include "hist_map.h"
#include "latency_abi.h"
#include "plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_ERROR_LEN 768

struct probe;

/* libbpf's own messages, without the newline. `warning` or only for debug. */
typedef void probe_log_fn(int warning, const char *message);

/* Where they go: process-wide, as libbpf has it. */
void probe__set_log(probe_log_fn *fn);

struct description_image;

/* What becomes of a probe's functions. severity: of syslog(3). */
typedef void probe_report_fn(void *arg, int severity, const char *message);

/* What is to be started. Borrowed for the call, except where stated. */
struct probe_order {
  const struct description_image *image;  /* the object file */
  const struct latency_description *desc; /* as long as the probe */
  struct latency_config config;           /* filters, grouping; not `cpus` */
  uint32_t groups;  /* label sets with rows; 0: not grouped */
  const char *rung; /* only this one; "": the first that works; as the probe */
  const struct plan_target *targets; /* functions; as long as the probe */
  size_t targets_num;      /* 0: the programs name what they hang on */
  probe_report_fn *report; /* as the probe */
  void *report_arg;
};

/*
 * Loads and attaches a rung. Returns 0, or -errno and in `err` one sentence:
 * what failed on each rung, and what is missing. With targets the probe starts
 * whatever becomes of them: each that is off is reported, and may come later.
 */
int probe__start(const struct probe_order *order, struct probe **ret_probe,
                 char *err, size_t err_size);

/* Does it measure, one function at least? Else only the next three apply. */
bool probe__is_up(const struct probe *probe);

/*
 * Once in an interval: has an upgrade replaced a function's file, or has one
 * come that was not there? Then it is attached to the new file, and what runs
 * with the old one is still measured. Costs one stat(2) for each function.
 */
void probe__follow(struct probe *probe);

/* Detaches and frees. NULL is fine. */
void probe__free(struct probe *probe);

/* The names of the rungs that measure, ", " between them. */
const char *probe__rung(const struct probe *probe);

/* How many functions are measured. */
size_t probe__functions(const struct probe *probe);

/* Its histograms; belongs to the probe. */
struct hist_map *probe__hist_map(struct probe *probe);

/* Events the kernel did not give to our programs: recursion. Since load. */
uint64_t probe__missed(const struct probe *probe);

/* Bytes of kernel memory of the maps. */
uint64_t probe__memory(const struct probe *probe);

#endif
