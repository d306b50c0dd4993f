/* SPDX-License-Identifier: MIT */
/* Metrics -> collectd. */
#ifndef DISPATCH_H
#define DISPATCH_H

#include "metric.h"

/* Starts a batch: all its values carry one time stamp. */
struct dispatch {
  unsigned long long time; /* cdtime_t */
};
void dispatch__begin(struct dispatch *batch);

/* A metric_fn; `arg` is the batch. */
void dispatch__metric(const struct metric *metric, void *arg);

#endif
