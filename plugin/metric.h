/* SPDX-License-Identifier: MIT */
/*
 * Names and values of series: one label set's histogram -> metrics, as the
 * design's table has them. Pure; what receives the metrics is a callback.
 */
#ifndef METRIC_H
#define METRIC_H

#include "config.h"
#include "hist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No field passes 63 bytes, so that no output cuts one short. */
#define METRIC_NAME_LEN 64

struct metric {
  const char *plugin_instance;
  const char *type;
  const char *type_instance;
  bool is_derive; /* value is `derive`, else `gauge` */
  double gauge;
  int64_t derive;
};

typedef void metric_fn(const struct metric *metric, void *arg);

/*
 * "PROBE-LABEL-LABEL" from the labels' raw texts. Bytes outside
 * [A-Za-z0-9_-] become '_'. When that, a cut, an empty text, a '-' in another
 * label than the first, or a first text that equals `reserved` (may be NULL;
 * the first text of the group that takes the rest) could make two label sets
 * look alike, '-' and 8 hex digits of a hash over the raw texts end the name.
 * The same texts always give the same name. All label sets of a probe have the
 * same number of labels; only the group that takes the rest may have fewer.
 */
void metric__instance(const char *probe, const char *const *labels,
                      size_t labels_num, const char *reserved,
                      char ret_name[METRIC_NAME_LEN]);

/* "percentile-99.9": the shortest decimal that is p. */
void metric__percentile_name(double p, char ret_name[METRIC_NAME_LEN]);

struct metric_options {
  const struct config_percentiles *percentiles;
  unsigned unit; /* enum latency_unit */
  bool buckets, cumulative;
  unsigned low_exp, high_exp;
};

/*
 * Every series of one label set: percentiles, maximum and average of the
 * interval (none when it had no event), count, sum and buckets since load.
 */
void metric__histogram(const char *plugin_instance,
                       const struct metric_options *options,
                       const struct hist *total, const struct hist *interval,
                       uint64_t interval_max, metric_fn *fn, void *arg);

/* One gauge, one counter, with a name of their own. */
void metric__gauge(const char *plugin_instance, const char *type_instance,
                   double value, metric_fn *fn, void *arg);
void metric__derive(const char *plugin_instance, const char *type_instance,
                    uint64_t value, metric_fn *fn, void *arg);

#endif
