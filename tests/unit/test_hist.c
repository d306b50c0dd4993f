/* SPDX-License-Identifier: MIT */
/*
 * The histogram's arithmetic: the bucket function that the kernel runs, its
 * inverse, sums, differences and powers of two.
 */
#include "hist.h"

#include "random.h"
#include "sample.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

#define RANDOM_VALUES 200000

/* (lower, upper], but for bucket 0, which is {0}. */
static void assert_holds(uint64_t value) {
  unsigned index = latency_bucket_index(value);
  ASSERT_FAST(index < LATENCY_BUCKETS, "%ju", (uintmax_t)value);
  ASSERT_FAST(value <= hist__upper(index), "%ju", (uintmax_t)value);
  if (value == 0)
    ASSERT_FAST(index == 0, "%u", index);
  else
    ASSERT_FAST(hist__lower(index) < value, "%ju", (uintmax_t)value);
}

START_TEST(power_classes) {
  ck_assert_uint_eq(latency_power_class(0), 0);
  for (unsigned k = 0; k <= LATENCY_MAX_BITS; k++) {
    const uint64_t power = 1ull << k;
    ck_assert_uint_eq(latency_power_class(power), k + 1);
    ck_assert_uint_eq(latency_power_class(power + 1), k + 2);
    if (k > 1)
      ck_assert_uint_eq(latency_power_class(power - 1), k + 1);
  }
  ck_assert_uint_eq(latency_power_class(UINT64_MAX), LATENCY_POWER_ABOVE);
}
END_TEST

START_TEST(index_of_edges) {
  for (uint64_t value = 0; value <= 40; value++) {
    assert_holds(value);
    if (value <= 32)
      ck_assert_uint_eq(latency_bucket_index(value), value);
  }
  for (unsigned k = 0; k < 64; k++) {
    uint64_t power = 1ull << k;
    assert_holds(power - 1);
    assert_holds(power);
    assert_holds(power + 1);
    unsigned index = latency_bucket_index(power);
    if (k <= LATENCY_MAX_BITS) {
      ck_assert_uint_eq(hist__upper(index), power);
      ck_assert_uint_eq(latency_bucket_index(power + 1), index + 1);
    } else
      ck_assert_uint_eq(index, LATENCY_OVERFLOW);
  }
  assert_holds(UINT64_MAX);
  ck_assert_uint_eq(latency_bucket_index(UINT64_MAX), LATENCY_OVERFLOW);
}
END_TEST

START_TEST(index_of_random) {
  for (int i = 0; i < RANDOM_VALUES; i++)
    assert_holds(random_value(64));
}
END_TEST

START_TEST(bounds_are_contiguous) {
  ck_assert_uint_eq(LATENCY_BUCKETS, 594);
  ck_assert_uint_eq(hist__lower(0), 0);
  ck_assert_uint_eq(hist__upper(0), 0);
  for (unsigned i = 1; i < LATENCY_BUCKETS; i++) {
    ck_assert_uint_eq(hist__lower(i), hist__upper(i - 1));
    ck_assert_uint_lt(hist__lower(i), hist__upper(i));
    ck_assert_uint_eq(latency_bucket_index(hist__lower(i) + 1), i);
    ck_assert_uint_eq(latency_bucket_index(hist__upper(i)), i);
  }
  ck_assert_uint_eq(hist__lower(LATENCY_OVERFLOW), 1ull << LATENCY_MAX_BITS);
  ck_assert_uint_eq(hist__upper(LATENCY_OVERFLOW), UINT64_MAX);
}
END_TEST

START_TEST(upper_bound_is_near) {
  for (int i = 0; i < RANDOM_VALUES; i++) {
    uint64_t value = random_value(LATENCY_MAX_BITS);
    uint64_t upper = hist__upper(latency_bucket_index(value));
    ASSERT_FAST(value <= upper && upper - value <= value / 16, "%ju",
                (uintmax_t)value);
    if (value <= 32)
      ASSERT_FAST(upper == value, "%ju", (uintmax_t)value);
  }
}
END_TEST

static void fill_row(struct latency_row *row) {
  memset(row, 0, sizeof(*row));
  row->sum = random_u64() >> 8;
  row->max[0] = row->max[1] = UINT64_MAX;
  for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
    row->bucket[i] = random_u64() >> 16;
}

START_TEST(rows_add_up) {
  static struct latency_row rows[3];
  static struct hist total, before, diff;
  uint64_t count = 0, sum = 0;
  for (size_t i = 0; i < LEN(rows); i++) {
    fill_row(&rows[i]);
    before = total;
    hist__add_row(&total, &rows[i]);
    sum += rows[i].sum;
    uint64_t row_count = 0;
    for (unsigned j = 0; j < LATENCY_BUCKETS; j++)
      row_count += rows[i].bucket[j];
    count += row_count;

    /* The difference is the row again. */
    hist__diff(&total, &before, &diff);
    ck_assert_uint_eq(diff.count, row_count);
    ck_assert_uint_eq(diff.sum, rows[i].sum);
    ck_assert_mem_eq(diff.bucket, rows[i].bucket, sizeof(diff.bucket));
  }
  ck_assert_uint_eq(total.count, count);
  ck_assert_uint_eq(total.sum, sum);
}
END_TEST

START_TEST(top_bucket) {
  struct hist hist = {0};
  ck_assert_int_eq(hist__top(&hist), -1);
  static const unsigned at[] = {0, 1, 300, LATENCY_OVERFLOW};
  for (size_t i = 0; i < LEN(at); i++) {
    hist.bucket[at[i]] = 1;
    ck_assert_int_eq(hist__top(&hist), (int)at[i]);
  }
}
END_TEST

START_TEST(powers_are_exact_at_edges) {
  struct sample sample = {0};
  uint64_t count[HIST_BOUNDS_MAX + 1];
  add(&sample, 1024, 3);
  add(&sample, 1025, 5);
  ck_assert_uint_eq(hist__powers(&sample.hist, 9, 11, false, count), 4);
  static const uint64_t apart[] = {0, 3, 5, 0};
  ck_assert_mem_eq(count, apart, sizeof(apart));
  hist__powers(&sample.hist, 9, 11, true, count);
  static const uint64_t upto[] = {0, 3, 8, 8};
  ck_assert_mem_eq(count, upto, sizeof(upto));

  for (unsigned k = 1; k <= LATENCY_MAX_BITS; k++) {
    struct sample edge = {0};
    add(&edge, 1ull << k, 1);
    add(&edge, (1ull << k) + 1, 10);
    ck_assert_uint_eq(hist__powers(&edge.hist, k, k, false, count), 2);
    ck_assert_uint_eq(count[0], 1);
    ck_assert_uint_eq(count[1], 10);
  }
}
END_TEST

/* The lowest bound takes all from 0 on; 2^0 is a bound, too. */
START_TEST(powers_of_all_sizes) {
  struct sample sample = {0};
  uint64_t count[HIST_BOUNDS_MAX + 1];
  add(&sample, 0, 1);
  add(&sample, 1, 2);
  add(&sample, 2, 4);
  add(&sample, UINT64_MAX, 8);
  unsigned n = hist__powers(&sample.hist, 0, LATENCY_MAX_BITS, false, count);
  ck_assert_uint_eq(n, LATENCY_MAX_BITS + 2);
  ck_assert_uint_eq(n, LEN(count));
  ck_assert_uint_eq(count[0], 3);
  ck_assert_uint_eq(count[1], 4);
  ck_assert_uint_eq(count[n - 1], 8);
}
END_TEST

START_TEST(powers_sum_up) {
  uint64_t apart[HIST_BOUNDS_MAX + 1], upto[HIST_BOUNDS_MAX + 1];
  for (int i = 0; i < 2000; i++) {
    struct sample sample;
    fill_random(&sample);
    unsigned low = random_u64() % HIST_BOUNDS_MAX;
    unsigned high = low + random_u64() % (HIST_BOUNDS_MAX - low);
    unsigned n = hist__powers(&sample.hist, low, high, false, apart);
    ck_assert_uint_eq(n, high - low + 2);
    ck_assert_uint_eq(hist__powers(&sample.hist, low, high, true, upto), n);
    uint64_t sum = 0;
    for (unsigned j = 0; j < n; j++) {
      sum += apart[j];
      ASSERT_FAST(upto[j] == sum, "%u..%u, %u", low, high, j);
    }
    ck_assert_uint_eq(sum, sample.hist.count);
  }
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("hist");
  TCase *tcase = tcase_create("hist");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, power_classes);
  tcase_add_test(tcase, index_of_edges);
  tcase_add_test(tcase, index_of_random);
  tcase_add_test(tcase, bounds_are_contiguous);
  tcase_add_test(tcase, upper_bound_is_near);
  tcase_add_test(tcase, rows_add_up);
  tcase_add_test(tcase, top_bucket);
  tcase_add_test(tcase, powers_are_exact_at_edges);
  tcase_add_test(tcase, powers_of_all_sizes);
  tcase_add_test(tcase, powers_sum_up);
  suite_add_tcase(suite, tcase);
  return suite;
}
