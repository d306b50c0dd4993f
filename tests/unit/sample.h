/* SPDX-License-Identifier: MIT */
/* Histograms for tests, filled as the kernel fills them. */
#ifndef TEST_SAMPLE_H
#define TEST_SAMPLE_H

#include "hist.h"
#include "random.h"

#include <string.h>

/* A histogram and its maximum. */
struct sample {
  struct hist hist;
  uint64_t max;
};

static inline void add(struct sample *sample, uint64_t value, uint64_t times) {
  sample->hist.count += times;
  sample->hist.sum += value * times;
  sample->hist.bucket[latency_bucket_index(value)] += times;
  if (times > 0 && value > sample->max)
    sample->max = value;
}

static inline void fill_random(struct sample *sample) {
  memset(sample, 0, sizeof(*sample));
  unsigned bits = 1 + random_u64() % 64;
  for (unsigned n = 1 + random_u64() % 40; n > 0; n--)
    add(sample, random_value(bits), 1 + random_value(10));
}

/* For loops of a million: ck_assert() reports each success to its parent. */
#define ASSERT_FAST(condition, ...)                                            \
  do                                                                           \
    if (!(condition))                                                          \
      ck_abort_msg(#condition ": " __VA_ARGS__);                               \
  while (0)

#endif
