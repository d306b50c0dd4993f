/* SPDX-License-Identifier: MIT */
/*
 * The series of one label set: their names, their values, and that all of them
 * are there, compared as lines of text.
 */
#include "metric.h"

#include "field.h"
#include "random.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
  double p;
  const char *name;
} percentiles[] = {
    {0, "percentile-0"},
    {-0.0, "percentile-0"},
    {1, "percentile-1"},
    {10, "percentile-10"},
    {50, "percentile-50"},
    {99, "percentile-99"},
    {99.9, "percentile-99.9"},
    {99.99, "percentile-99.99"},
    {99.999, "percentile-99.999"},
    {100, "percentile-100"},
    {0.1, "percentile-0.1"},
    {0.1 + 0.2, "percentile-0.30000000000000004"},
    {0.001, "percentile-0.001"},
    {1e-05, "percentile-0.00001"},
    {2.5e-06, "percentile-0.0000025"},
    {99.99999999999999, "percentile-99.99999999999999"},
    {1e-40, "percentile-0.0000000000000000000000000000000000000001"},
    {1e-300, "percentile-1e-300"},
};

START_TEST(percentile_name) {
  char name[METRIC_NAME_LEN];
  metric__percentile_name(percentiles[_i].p, name);
  ck_assert_str_eq(name, percentiles[_i].name);
  ck_assert_double_eq(strtod(name + strlen("percentile-"), NULL),
                      percentiles[_i].p);
}
END_TEST

START_TEST(percentile_name_reads_back) {
  for (int i = 0; i < 20000; i++) {
    double p = (double)random_u64() / (double)UINT64_MAX * 100;
    if (i % 2)
      p = (double)(random_u64() % 1000000) / 10000;
    char name[METRIC_NAME_LEN];
    metric__percentile_name(p, name);
    assert_field(name, PLAIN ".");
    if (strtod(name + strlen("percentile-"), NULL) != p)
      ck_abort_msg("%s is not %.17g", name, p);
  }
}
END_TEST

/* Metrics as lines of text, to compare all of them at once. */
struct lines {
  char text[8192];
  size_t len;
};

static void add_line(const struct metric *metric, void *arg) {
  struct lines *lines = arg;
  assert_field(metric->plugin_instance, PLAIN);
  assert_field(metric->type_instance, PLAIN ".");
  char value[32];
  if (metric->is_derive)
    snprintf(value, sizeof(value), "%jd", (intmax_t)metric->derive);
  else
    snprintf(value, sizeof(value), "%g", metric->gauge);
  size_t room = sizeof(lines->text) - lines->len;
  int len = snprintf(lines->text + lines->len, room, "%s %s-%s %s\n",
                     metric->plugin_instance, metric->type,
                     metric->type_instance, value);
  ck_assert_int_lt(len, (int)room);
  lines->len += (size_t)len;
}

static void add(struct hist *hist, uint64_t value, uint64_t times) {
  hist->count += times;
  hist->sum += value * times;
  hist->bucket[latency_bucket_index(value)] += times;
}

static const struct config_percentiles two = {2, {50, 99.9}};
static const struct config_percentiles none = {0};

/* In all: 1, 1, 256, 257, 1024, 2000. In the interval: 1024, 2000. */
static const struct {
  struct metric_options options;
  bool empty_interval;
  const char *lines;
} histograms[] = {
    {{&two, LATENCY_UNIT_NS, true, false, 8, 11},
     false,
     "p-x latency-percentile-50 1024\n" /* of (992, 1024] */
     "p-x latency-percentile-99.9 2000\n"
     "p-x latency-max 2000\n"
     "p-x latency-average 1512\n"
     "p-x derive-count 6\n"
     "p-x derive-sum 3539\n"
     "p-x derive-bucket-256 3\n"
     "p-x derive-bucket-512 1\n"
     "p-x derive-bucket-1024 1\n"
     "p-x derive-bucket-2048 1\n"
     "p-x derive-bucket-inf 0\n"},
    {{&two, LATENCY_UNIT_BYTES, true, true, 8, 10},
     false,
     "p-x bytes-percentile-50 1024\n"
     "p-x bytes-percentile-99.9 2000\n"
     "p-x bytes-max 2000\n"
     "p-x bytes-average 1512\n"
     "p-x derive-count 6\n"
     "p-x derive-sum 3539\n"
     "p-x derive-bucket-256 3\n"
     "p-x derive-bucket-512 4\n"
     "p-x derive-bucket-1024 5\n"
     "p-x derive-bucket-inf 6\n"},
    {{&none, LATENCY_UNIT_NS, false, false, 8, 11},
     false,
     "p-x latency-max 2000\n"
     "p-x latency-average 1512\n"
     "p-x derive-count 6\n"
     "p-x derive-sum 3539\n"},
    {{&two, LATENCY_UNIT_NS, false, false, 8, 11},
     true,
     "p-x derive-count 6\n"
     "p-x derive-sum 3539\n"},
    {{&two, LATENCY_UNIT_NS, true, false, 40, 40},
     true,
     "p-x derive-count 6\n"
     "p-x derive-sum 3539\n"
     "p-x derive-bucket-1099511627776 6\n"
     "p-x derive-bucket-inf 0\n"},
};

START_TEST(metrics_of_a_histogram) {
  struct hist total = {0}, interval = {0};
  uint64_t max = 0;
  add(&total, 1, 2);
  add(&total, 256, 1);
  add(&total, 257, 1);
  add(&total, 1024, 1);
  add(&total, 2000, 1);
  if (!histograms[_i].empty_interval) {
    add(&interval, 1024, 1);
    add(&interval, 2000, 1);
    max = 2000;
  }
  struct lines lines = {0};
  metric__histogram("p-x", &histograms[_i].options, &total, &interval, max,
                    add_line, &lines);
  ck_assert_str_eq(lines.text, histograms[_i].lines);
}
END_TEST

/* A total that no event has touched yet still has all its series. */
START_TEST(metrics_of_nothing) {
  const struct metric_options options = {&two, LATENCY_UNIT_NS, true, false, 8,
                                         34};
  struct hist hist = {0};
  struct lines lines = {0};
  metric__histogram("p", &options, &hist, &hist, 0, add_line, &lines);
  size_t n = 0;
  for (const char *c = lines.text; *c != '\0'; c++)
    n += *c == '\n';
  ck_assert_uint_eq(n, 2 + 27 + 1);
  ck_assert_ptr_nonnull(strstr(lines.text, "p derive-bucket-256 0\n"));
  ck_assert_ptr_nonnull(strstr(lines.text, "p derive-bucket-17179869184 0\n"));
  ck_assert_ptr_nonnull(strstr(lines.text, "p derive-bucket-inf 0\n"));
}
END_TEST

/* The sum was read before the last events were counted, and the reverse. */
START_TEST(average_is_no_more_than_the_maximum) {
  const struct metric_options options = {
      &none, LATENCY_UNIT_NS, false, false, 8, 34};
  struct hist interval = {.count = 2, .sum = 5000};
  interval.bucket[latency_bucket_index(2000)] = 2;
  struct lines lines = {0};
  metric__histogram("p", &options, &interval, &interval, 2000, add_line,
                    &lines);
  ck_assert_ptr_nonnull(strstr(lines.text, "p latency-average 2000\n"));
}
END_TEST

/* No counter goes through a double: 2^53 + 1 would come out even. */
START_TEST(counters_are_exact) {
  const uint64_t odd = (1ull << 53) + 1;
  const struct metric_options options = {&none, LATENCY_UNIT_NS, true, false, 8,
                                         8};
  struct hist total = {.count = odd, .sum = odd + 2}, interval = {0};
  total.bucket[latency_bucket_index(1000)] = odd;
  struct lines lines = {0};
  metric__histogram("p", &options, &total, &interval, 0, add_line, &lines);
  metric__derive("p", "lost-filtered", odd, add_line, &lines);
  metric__gauge("p", "up", 1, add_line, &lines);
  ck_assert_str_eq(lines.text, "p derive-count 9007199254740993\n"
                               "p derive-sum 9007199254740995\n"
                               "p derive-bucket-256 0\n"
                               "p derive-bucket-inf 9007199254740993\n"
                               "p derive-lost-filtered 9007199254740993\n"
                               "p gauge-up 1\n");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("metric");
  TCase *tcase = tcase_create("metric");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, percentile_name, 0, LEN(percentiles));
  tcase_add_test(tcase, percentile_name_reads_back);
  tcase_add_loop_test(tcase, metrics_of_a_histogram, 0, LEN(histograms));
  tcase_add_test(tcase, metrics_of_nothing);
  tcase_add_test(tcase, average_is_no_more_than_the_maximum);
  tcase_add_test(tcase, counters_are_exact);
  suite_add_tcase(suite, tcase);
  return suite;
}
