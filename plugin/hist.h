/* SPDX-License-Identifier: MIT */
/*
 * Histograms as numbers: bounds, sums, differences, percentiles. Pure: knows
 * neither the kernel nor collectd.
 */
#ifndef HIST_H
#define HIST_H

#include "latency_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* Power-of-two bounds: 2^0 .. 2^LATENCY_MAX_BITS. */
#define HIST_BOUNDS_MAX (LATENCY_MAX_BITS + 1)

struct hist {
  uint64_t count; /* of all buckets */
  uint64_t sum;   /* of all values, in the probe's unit, exact */
  uint64_t bucket[LATENCY_BUCKETS];
};

/* Bucket `index` counts the values in (lower, upper]. Bucket 0 is {0}, lower
 * 0; the last one's upper bound is UINT64_MAX. */
uint64_t hist__lower(unsigned index);
uint64_t hist__upper(unsigned index);

/* Adds one CPU's row. The maximum is the caller's business. */
void hist__add_row(struct hist *hist, const struct latency_row *row);

/* What came after `before`: now - before, all counters. */
void hist__diff(const struct hist *now, const struct hist *before,
                struct hist *ret_interval);

/* The largest index that counts something; -1: none does. */
int hist__top(const struct hist *hist);

/*
 * The p-th percentile, 0 <= p <= 100, by nearest rank: the value of rank
 * max(1, ceil(p/100 * count)), as the upper bound of its bucket, and never
 * above `max`, the largest value there was. The last rank is `max` itself.
 * So it never understates: the truth is in (result * 16/17, result]. NAN when
 * the histogram is empty.
 */
double hist__percentile(const struct hist *hist, double p, uint64_t max);

/*
 * Power-of-two counts: ret_count[i] for i = 0 .. high_exp - low_exp counts the
 * values in (2^(low_exp + i - 1), 2^(low_exp + i)], the first from 0 on, and
 * one more, the last, what is above. With `cumulative` each counts all values
 * up to its bound. Exact. Returns how many were written: high_exp - low_exp
 * + 2. Requires 0 <= low_exp <= high_exp <= LATENCY_MAX_BITS.
 */
unsigned hist__powers(const struct hist *hist, unsigned low_exp,
                      unsigned high_exp, bool cumulative, uint64_t *ret_count);

#endif
