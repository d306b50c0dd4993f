/* SPDX-License-Identifier: MIT */
/*
 * Histograms as numbers: bounds, sums, differences, percentiles. Integers as
 * far as they go; what is counted stays exact over all 64 bits.
 */
#include "hist.h"

#include <math.h>
#include <stddef.h>

/* Decimals of a percentage that count, and 100 % in that unit: see rank(). */
#define PERCENT_UNIT 1e13
#define PERCENT_DIGITS 15
#define PERCENT_ALL 1000000000000000u

/*
 * The largest value of a bucket, but for the last one. An index is built as a
 * floating point number is: a shift, then LATENCY_SUB_BITS bits below a leading
 * one that is implied. Below 2^LATENCY_SUB_BITS it is the value itself.
 */
static uint64_t bound(unsigned index) {
  unsigned steps = 1u << LATENCY_SUB_BITS;
  if (index < steps)
    return index;
  return (uint64_t)(steps + index % steps) << (index / steps - 1);
}

uint64_t hist__lower(unsigned index) {
  return index == 0 ? 0 : bound(index - 1);
}

uint64_t hist__upper(unsigned index) {
  return index >= LATENCY_OVERFLOW ? UINT64_MAX : bound(index);
}

/* The kernel's programs write while this reads: each load is one access. */
static uint64_t load(const __u64 *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void hist__add_row(struct hist *hist, const struct latency_row *row) {
  hist->sum += load(&row->sum);
  for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
    uint64_t count = load(&row->bucket[i]);
    hist->bucket[i] += count;
    hist->count += count;
  }
}

void hist__diff(const struct hist *now, const struct hist *before,
                struct hist *ret_interval) {
  ret_interval->count = now->count - before->count;
  ret_interval->sum = now->sum - before->sum;
  for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
    ret_interval->bucket[i] = now->bucket[i] - before->bucket[i];
}

int hist__top(const struct hist *hist) {
  int top = LATENCY_BUCKETS - 1;
  while (top >= 0 && hist->bucket[top] == 0)
    top--;
  return top;
}

/*
 * max(1, ceil(p/100 * count)), for the p that was written, not for the double
 * next to it: 99.9 is a little more in binary, and 1000 events would then
 * have rank 1000 where 999 is meant.
 *
 * So p is first made a whole number of 1e-13 %. That is exact for whatever has
 * up to 13 decimals: the double is off by at most 2^-53 of p, and so is the
 * product, together less than 0.23 units at 1e15 units. The rest is integer
 * arithmetic, a decimal digit at a time, the last one first, because
 * ceil((a + y) / 10) = ceil((a + ceil(y)) / 10) for any whole a. Tens and ones
 * apart, nothing passes 64 bits, whatever the count.
 */
static uint64_t rank(double p, uint64_t count) {
  if (!(p > 0))
    return 1;
  uint64_t digits = p < 100 ? (uint64_t)(p * PERCENT_UNIT + 0.5) : PERCENT_ALL;
  if (digits >= PERCENT_ALL)
    return count;

  uint64_t rank = 0;
  for (unsigned i = 0; i < PERCENT_DIGITS; i++) {
    uint64_t digit = digits % 10;
    digits /= 10;
    rank = count / 10 * digit + rank / 10 +
           (count % 10 * digit + rank % 10 + 9) / 10;
  }
  return rank > 0 ? rank : 1;
}

double hist__percentile(const struct hist *hist, double p, uint64_t max) {
  if (hist->count == 0)
    return NAN;

  uint64_t wanted = rank(p, hist->count);
  if (wanted == hist->count)
    return (double)max;

  uint64_t seen = 0;
  unsigned i = 0;
  while (i < LATENCY_OVERFLOW && (seen += hist->bucket[i]) < wanted)
    i++;
  uint64_t bound = hist__upper(i);
  return (double)(bound < max ? bound : max);
}

unsigned hist__powers(const struct hist *hist, unsigned low_exp,
                      unsigned high_exp, bool cumulative, uint64_t *ret_count) {
  unsigned n = 0;
  unsigned bucket = 0;
  uint64_t count = 0;
  for (unsigned exp = low_exp; exp <= high_exp; exp++) {
    unsigned last = latency_bucket_index(1ULL << exp);
    if (!cumulative)
      count = 0;
    for (; bucket <= last; bucket++)
      count += hist->bucket[bucket];
    ret_count[n++] = count;
  }
  if (!cumulative)
    count = 0;
  for (; bucket < LATENCY_BUCKETS; bucket++)
    count += hist->bucket[bucket];
  ret_count[n++] = count;
  return n;
}
