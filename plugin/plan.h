/* SPDX-License-Identifier: MIT */
/*
 * What is asked of a probe (config) and what the probe says of itself
 * (description) -> what the kernel half is told, and how its label sets are
 * called. Pure.
 */
#ifndef PLAN_H
#define PLAN_H

#include "config.h"
#include "latency_abi.h"
#include "metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of the group that takes what has no group of its own. */
#define PLAN_OTHER "other"

/* Index of the label "comm", which is no probe's own. */
#define PLAN_COMM LATENCY_OWN_LABELS

/* A function to measure: whose name, in which file. */
struct plan_target {
  const char *name;   /* of its block; "" of the only one */
  const char *binary; /* NULL: the C library, or in_kernel */
  const char *symbol;
  bool in_kernel;
};

struct plan {
  struct latency_config kernel;  /* all but `cpus`, which the loader knows */
  uint32_t groups;               /* label sets with rows; 0: not grouped */
  int labels[CONFIG_LABELS_MAX]; /* indices, in the order of the name */
  size_t labels_num;
  struct metric_options options;
  struct plan_target targets[LATENCY_FUNCTIONS];
  size_t targets_num; /* 0: the programs name what they hang on */
};

/*
 * Returns 0, or -EINVAL and in `err` one sentence that names block, key and
 * value: a label or an option that the probe does not know, a value that its
 * filter does not, functions where there are none or none where there must be.
 * `ret_plan` points into `conf` and `desc`.
 */
int plan__make(const struct config *conf, const struct config_probe *probe,
               const struct latency_description *desc, struct plan *ret_plan,
               char *err, size_t err_size);

/* The plugin_instance of a label set: "iolat-vda-write-device". */
void plan__instance(const struct plan *plan,
                    const struct latency_description *desc,
                    const struct latency_key *key, uint32_t inner, bool other,
                    char ret_name[METRIC_NAME_LEN]);

#endif
