/* SPDX-License-Identifier: MIT */
/*
 * collectd's tree of options -> struct config. Checks all that the text alone
 * tells; what depends on the probes there are is probe_set's to check. Pure:
 * calls nothing of collectd's and logs nothing.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include "latency_abi.h"

#include <liboconfig/oconfig.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONFIG_PERCENTILES_MAX 32
#define CONFIG_LABELS_MAX 8
#define CONFIG_NAME_LEN 16   /* probe and label names, with the NUL */
#define CONFIG_ERROR_LEN 512 /* room for one error message */
#define CONFIG_RUNG_LEN sizeof(((struct latency_rung *)0)->name)

/* Ascending, each once. count 0: not set. */
struct config_percentiles {
  size_t count;
  double value[CONFIG_PERCENTILES_MAX];
};

/* A filter named after a probe's label: `Syscall "read" "write"`. */
struct config_filter {
  char *option;
  char **values;
  size_t values_num;
};

/* One <Function "name"> block: what a probe is to measure. */
struct config_function {
  char *name;
  char *binary; /* NULL: a function of the kernel */
  char *symbol; /* NULL: `name` */
};

/* One <Probe "name"> block. */
struct config_probe {
  char name[CONFIG_NAME_LEN];
  bool grouped; /* GroupBy was given: group_by holds, even when empty */
  char group_by[CONFIG_LABELS_MAX][CONFIG_NAME_LEN];
  size_t group_by_num;                              /* 0: "none" */
  char comms[LATENCY_FILTER_MAX][LATENCY_COMM_LEN]; /* Process */
  size_t comms_num;
  uint32_t pids[LATENCY_FILTER_MAX]; /* Pid */
  size_t pids_num;
  struct config_percentiles percentiles; /* count 0: the plugin's */
  char rung[CONFIG_RUNG_LEN];    /* Rung: this one or none; "": the best */
  struct config_filter *filters; /* options only a probe's labels know */
  size_t filters_num;
  char *binary; /* Binary, Symbol of a probe on one function; NULL: its own */
  char *symbol;
  struct config_function *functions; /* their names differ */
  size_t functions_num;
};

struct config {
  struct config_percentiles percentiles;
  bool percentiles_set; /* false: `percentiles` is the default */
  bool buckets;
  bool cumulative_buckets;
  unsigned low_exp, high_exp; /* BucketBounds, as powers of two */
  bool bounds_set;            /* false: the unit's default */
  unsigned max_groups;
  char *probe_dir;
  bool probe_dir_set; /* false: the default, which may not be there */
  struct config_probe *probes;
  size_t probes_num;
  bool probes_named; /* false: `probes` is the default set */
  char **warnings;   /* of which config__warning() gave some out */
  size_t warnings_num;
  size_t warnings_given;
};

/* Defaults, with the default set of probes. 0, or -ENOMEM and all zero. */
int config__init(struct config *conf, const char *probe_dir);

/*
 * Adds one <Plugin ebpf_latency> block: blocks add up, a scalar given again
 * replaces the earlier one, a probe named again is an error. Returns 0, or
 * -EINVAL/-ENOMEM with one sentence in `err` that names block, key and value;
 * `conf` is then only good for config__free().
 */
int config__add(struct config *conf, const oconfig_item_t *block, char *err,
                size_t err_size);

/*
 * After a successful config__add(): the next remark that is no error, such as
 * a process name longer than the kernel's 15 bytes; NULL: none left. Good until
 * config__free().
 */
const char *config__warning(struct config *conf);

/* The BucketBounds in force for a unit (enum latency_unit). */
void config__bounds(const struct config *conf, unsigned unit,
                    unsigned *ret_low_exp, unsigned *ret_high_exp);

void config__free(struct config *conf);

#endif
