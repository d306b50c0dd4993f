/* SPDX-License-Identifier: MIT */
/*
 * Percentiles: ranks exact to the last event, values as near as they must be,
 * and never out of order.
 */
#include "hist.h"

#include "random.h"
#include "sample.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

#define MS 1000000u

static double percentile(const struct sample *sample, double p) {
  return hist__percentile(&sample->hist, p, sample->max);
}

/* One bucket wide values: what comes back is the rank itself. */
static const struct {
  double p;
  uint64_t count;
  uint64_t rank;
} small_ranks[] = {{0, 1, 1},     {50, 1, 1},    {100, 1, 1},   {0, 2, 1},
                   {50, 2, 1},    {50.1, 2, 2},  {51, 2, 2},    {100, 2, 2},
                   {25, 4, 1},    {25.1, 4, 2},  {75, 4, 3},    {99, 4, 4},
                   {10, 30, 3},   {10.1, 30, 4}, {70, 10, 7},   {30, 10, 3},
                   {7, 32, 3},    {100, 32, 32}, {1e-9, 32, 1}, {90, 20, 18},
                   {90.1, 20, 19}};

START_TEST(percentile_is_exact_when_small) {
  struct sample sample = {0};
  for (uint64_t value = 1; value <= small_ranks[_i].count; value++)
    add(&sample, value, 1);
  ck_assert_double_eq(percentile(&sample, small_ranks[_i].p),
                      small_ranks[_i].rank);
}
END_TEST

/*
 * A rank too large to have a value of its own: `rank` events of 1, the rest of
 * 2, one of 3. The percentile is 1 if the rank is right, and 2 if there is one
 * event of 1 less. 99.9 in binary is above 99.9, 0.7 * 10 above 7, and so on.
 */
static const struct {
  double p;
  uint64_t count;
  uint64_t rank;
} large_ranks[] = {{29, 100, 29},
                   {57, 100, 57},
                   {58, 100, 58},
                   {99, 100, 99},
                   {99.9, 1000, 999},
                   {99.9, 1001, 1000},
                   {99.9, 10000, 9990},
                   {99.99, 10000, 9999},
                   {99.99, 1000000, 999900},
                   {99.999, 100000, 99999},
                   {99.9999999999999, 1000000000000000, 999999999999999},
                   {0.1, 1000, 1},
                   {0.1, 1001, 2},
                   {0.7, 1000, 7},
                   {1e-13, 1000000000000000, 1},
                   {1e-13, 1000000000000001, 2},
                   {1e-30, 1000000, 1},
                   {33.3, 1000, 333},
                   {50, 9007199254740993, 4503599627370497},  /* 2^53 + 1 */
                   {50, 9007199254740994, 4503599627370497},  /* 2^53 + 2 */
                   {25, 36028797018963972, 9007199254740993}, /* 2^55 + 4 */
                   {99.9, 9007199254741000, 8998192055486259},
                   {10, UINT64_MAX, 1844674407370955162},
                   {50, UINT64_MAX, 9223372036854775808u},
                   {99.9999999999999, UINT64_MAX, 18446744073709533169u}};

START_TEST(percentile_rank_is_exact) {
  double p = large_ranks[_i].p;
  uint64_t rank = large_ranks[_i].rank;
  uint64_t rest = large_ranks[_i].count - rank - 1;
  struct sample sample = {0};
  add(&sample, 1, rank);
  add(&sample, 2, rest);
  add(&sample, 3, 1);
  ck_assert_double_eq(percentile(&sample, p), 1);

  struct sample one_less = {0};
  add(&one_less, 1, rank - 1);
  add(&one_less, 2, rest + 1);
  add(&one_less, 3, 1);
  ck_assert_double_eq(percentile(&one_less, p), 2);
}
END_TEST

/* Every whole percent and tenth of one, of counts where it is a whole rank. */
START_TEST(percentile_at_every_multiple) {
  for (uint64_t tenths = 1; tenths < 1000; tenths++)
    for (uint64_t count = 1000; count <= 1000000; count *= 10) {
      uint64_t rank = tenths * (count / 1000);
      struct sample sample = {0};
      add(&sample, 1, rank);
      add(&sample, 2, count - rank);
      double p = (double)tenths / 10;
      ASSERT_FAST(percentile(&sample, p) == 1, "p = %g", p);
      ASSERT_FAST(percentile(&sample, p + 1e-9) == 2, "p = %g", p);
    }
}
END_TEST

START_TEST(percentile_of_nothing) {
  struct sample sample = {0};
  static const double ps[] = {0, 50, 99.9, 100};
  for (size_t i = 0; i < LEN(ps); i++)
    ck_assert(isnan(percentile(&sample, ps[i])));
}
END_TEST

/* A histogram of up to three values, and what a percentile may not be below
 * nor 1/16 above. */
static const struct {
  uint64_t value[3];
  uint64_t times[3];
  double p;
  double truth;
} known[] = {
    /* one of 500 ms: no percentile is off */
    {{500 * MS}, {1}, 0, 500e6},
    {{500 * MS}, {1}, 50, 500e6},
    {{500 * MS}, {1}, 99.99, 500e6},
    {{500 * MS}, {1}, 100, 500e6},
    /* two, 1 ms and 1 s */
    {{MS, 1000 * MS}, {1, 1}, 0, 1e6},
    {{MS, 1000 * MS}, {1, 1}, 50, 1e6},
    {{MS, 1000 * MS}, {1, 1}, 51, 1e9},
    {{MS, 1000 * MS}, {1, 1}, 100, 1e9},
    /* all alike */
    {{137000}, {10000}, 0, 137000},
    {{137000}, {10000}, 50, 137000},
    {{137000}, {10000}, 99, 137000},
    {{137000}, {10000}, 100, 137000},
    /* zero has a bucket of its own, and one event is not lost in many */
    {{0}, {10}, 50, 0},
    {{0, 5}, {99, 1}, 99, 0},
    {{0, 5}, {99, 1}, 99.1, 5},
    {{1000, 2000, 7777777}, {990, 9, 1}, 99, 1000},
    {{1000, 2000, 7777777}, {990, 9, 1}, 99.1, 2000},
    {{1000, 2000, 7777777}, {990, 9, 1}, 99.9, 2000},
    {{1000, 2000, 7777777}, {990, 9, 1}, 99.91, 7777777},
    /* above the last bound only the maximum is known */
    {{1ull << 41, 1ull << 50}, {1, 1}, 50, (double)(1ull << 50)},
    {{5, UINT64_MAX}, {1, 9}, 50, (double)UINT64_MAX},
};

START_TEST(percentile_of_known) {
  struct sample sample = {0};
  for (size_t i = 0; i < LEN(known[_i].value); i++)
    add(&sample, known[_i].value[i], known[_i].times[i]);
  double result = percentile(&sample, known[_i].p);
  ck_assert_double_ge(result, known[_i].truth);
  ck_assert_double_le(result, known[_i].truth * 17 / 16);
  ck_assert_double_le(result, (double)sample.max);
}
END_TEST

START_TEST(percentile_is_monotone) {
  for (int i = 0; i < 1000; i++) {
    struct sample sample;
    fill_random(&sample);
    double last = -1;
    for (double p = 0; p < 100; p += 0.73) {
      double result = percentile(&sample, p);
      ASSERT_FAST(result >= last, "p = %g", p);
      ASSERT_FAST(result <= (double)sample.max, "p = %g", p);
      last = result;
    }
    ck_assert_double_ge(percentile(&sample, 100), last);
    ck_assert_double_eq(percentile(&sample, 100), (double)sample.max);
  }
}
END_TEST

static int compare(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return (left > right) - (left < right);
}

/* Against the sorted values themselves. */
START_TEST(percentile_is_near_the_truth) {
  enum { N = 997 };
  uint64_t values[N];
  for (int round = 0; round < 50; round++) {
    struct sample sample = {0};
    for (int i = 0; i < N; i++) {
      values[i] = random_value(LATENCY_MAX_BITS);
      add(&sample, values[i], 1);
    }
    qsort(values, N, sizeof(values[0]), compare);
    for (int rank = 1; rank <= N; rank++) {
      double p = 100.0 * (rank - 0.5) / N;
      double truth = (double)values[rank - 1];
      double result = percentile(&sample, p);
      ASSERT_FAST(truth <= result && result <= truth * 17 / 16, "rank %d, %g",
                  rank, truth);
    }
  }
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("percentile");
  TCase *tcase = tcase_create("percentile");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, percentile_is_exact_when_small, 0,
                      LEN(small_ranks));
  tcase_add_loop_test(tcase, percentile_rank_is_exact, 0, LEN(large_ranks));
  tcase_add_test(tcase, percentile_at_every_multiple);
  tcase_add_test(tcase, percentile_of_nothing);
  tcase_add_loop_test(tcase, percentile_of_known, 0, LEN(known));
  tcase_add_test(tcase, percentile_is_monotone);
  tcase_add_test(tcase, percentile_is_near_the_truth);
  suite_add_tcase(suite, tcase);
  return suite;
}
