/* SPDX-License-Identifier: MIT */
/* Configuration text in, struct config out. */
#include "config.h"

#include "oconfig_text.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

Suite *test_suite(void);

static struct config conf;
static char err[CONFIG_ERROR_LEN];

static void setup(void) {
  memset(err, 0, sizeof(err));
  ck_assert_int_eq(config__init(&conf, "/probes"), 0);
}

static void teardown(void) { config__free(&conf); }

static void add_ok(const char *text) {
  oconfig_item_t *block = oconfig_text__parse(text);
  ck_assert_msg(block != NULL, "syntax: %s", text);
  int status = config__add(&conf, block, err, sizeof(err));
  ck_assert_msg(status == 0, "%s: %d, %s", text, status, err);
  oconfig_text__free(block);
}

#define RUNQLAT "<Plugin ebpf_latency>, <Probe \"runqlat\">: "
#define IN(lines) "<Probe \"runqlat\">\n" lines "\n</Probe>\n"

static void assert_percentiles(const struct config_percentiles *percentiles,
                               size_t count, ...) {
  ck_assert_uint_eq(percentiles->count, count);
  va_list args;
  va_start(args, count);
  for (size_t i = 0; i < count; i++)
    ck_assert_double_eq(percentiles->value[i], va_arg(args, double));
  va_end(args);
}

static void assert_bounds(unsigned unit, unsigned low_exp, unsigned high_exp) {
  unsigned low, high;
  config__bounds(&conf, unit, &low, &high);
  ck_assert_uint_eq(low, low_exp);
  ck_assert_uint_eq(high, high_exp);
}

static void assert_probes(const char *names) {
  char text[256] = "";
  for (size_t i = 0; i < conf.probes_num; i++) {
    size_t len = strlen(text);
    snprintf(text + len, sizeof(text) - len, "%s%s", i == 0 ? "" : " ",
             conf.probes[i].name);
  }
  ck_assert_str_eq(text, names);
}

START_TEST(defaults) {
  add_ok("");
  assert_percentiles(&conf.percentiles, 4, 50., 90., 99., 99.9);
  ck_assert(conf.buckets);
  ck_assert(!conf.cumulative_buckets);
  assert_bounds(LATENCY_UNIT_NS, 8, 34);
  assert_bounds(LATENCY_UNIT_BYTES, 9, 24);
  ck_assert_uint_eq(conf.max_groups, 32);
  ck_assert_str_eq(conf.probe_dir, "/probes");
  assert_probes("runqlat memlat iolat");
  ck_assert(!conf.probes_named);
  for (size_t i = 0; i < conf.probes_num; i++) {
    ck_assert(!conf.probes[i].grouped);
    ck_assert_uint_eq(conf.probes[i].percentiles.count, 0);
  }
  ck_assert_ptr_null(config__warning(&conf));
}
END_TEST

START_TEST(every_scalar) {
  add_ok("buckets off\nCUMULATIVEBUCKETS yes\nBucketBounds 1 1099511627776\n"
         "MaxGroups 4096\nProbeDir \"/a b\"\n");
  ck_assert(!conf.buckets);
  ck_assert(conf.cumulative_buckets);
  assert_bounds(LATENCY_UNIT_NS, 0, 40);
  assert_bounds(LATENCY_UNIT_BYTES, 0, 40);
  ck_assert_uint_eq(conf.max_groups, 4096);
  ck_assert_str_eq(conf.probe_dir, "/a b");
  assert_probes("runqlat memlat iolat");
}
END_TEST

START_TEST(functions) {
  add_ok(IN(
      "Binary \"/a\"\nSymbol \"malloc\"\nBinary \"/b\"") "<Probe \"funclat\">\n"
                                                         "<Function "
                                                         "\"send\">\nBinary "
                                                         "\"/lib/"
                                                         "x.so\"\nSymbol "
                                                         "\"_Z4sendi\"\n"
                                                         "</Function>\n"
                                                         "<function "
                                                         "\"Send\">\nSymbol "
                                                         "\"tcp_sendmsg\"\n</"
                                                         "function>\n"
                                                         "<Function "
                                                         "\"vfs_read\">\n</"
                                                         "Function>\n"
                                                         "</Probe>");
  ck_assert_str_eq(conf.probes[0].binary, "/b");
  ck_assert_str_eq(conf.probes[0].symbol, "malloc");
  ck_assert_uint_eq(conf.probes[0].functions_num, 0);
  const struct config_probe *probe = &conf.probes[1];
  ck_assert_ptr_null(probe->binary);
  ck_assert_ptr_null(probe->symbol);
  ck_assert_uint_eq(probe->functions_num, 3);
  ck_assert_str_eq(probe->functions[0].name, "send");
  ck_assert_str_eq(probe->functions[0].binary, "/lib/x.so");
  ck_assert_str_eq(probe->functions[0].symbol, "_Z4sendi");
  ck_assert_str_eq(probe->functions[1].name, "Send");
  ck_assert_ptr_null(probe->functions[1].binary);
  ck_assert_str_eq(probe->functions[1].symbol, "tcp_sendmsg");
  ck_assert_str_eq(probe->functions[2].name, "vfs_read");
  ck_assert_ptr_null(probe->functions[2].symbol);
}
END_TEST

START_TEST(scalar_again_replaces) {
  add_ok("MaxGroups 1\nMaxGroups 0x10\nProbeDir \"/a\"\nBucketBounds 1 2");
  add_ok("ProbeDir \"/b\"\nBucketBounds 512 1024\nBuckets false");
  ck_assert_uint_eq(conf.max_groups, 16);
  ck_assert_str_eq(conf.probe_dir, "/b");
  assert_bounds(LATENCY_UNIT_NS, 9, 10);
  ck_assert(!conf.buckets);
}
END_TEST

START_TEST(percentiles_are_sorted_and_unique) {
  add_ok("Percentile 99.99 50 100 0 99.999 50");
  assert_percentiles(&conf.percentiles, 5, 0., 50., 99.99, 99.999, 100.);
  add_ok("Percentile 99 99 50.0");
  add_ok("percentile .5");
  assert_percentiles(&conf.percentiles, 7, 0., .5, 50., 99., 99.99, 99.999,
                     100.);
}
END_TEST

START_TEST(decimal_comma_is_two_percentiles) {
  add_ok("Percentile 99,9");
  assert_percentiles(&conf.percentiles, 2, 9., 99.);
}
END_TEST

START_TEST(minus_zero_is_zero) {
  add_ok("Percentile -0");
  assert_percentiles(&conf.percentiles, 1, 0.);
  ck_assert(!signbit(conf.percentiles.value[0]));
}
END_TEST

START_TEST(percentiles_once_more_take_no_room) {
  for (int i = 1; i <= CONFIG_PERCENTILES_MAX; i++) {
    char line[32];
    snprintf(line, sizeof(line), "Percentile %d", i);
    add_ok(line);
  }
  add_ok("Percentile 1 32 7");
  ck_assert_uint_eq(conf.percentiles.count, 32);
}
END_TEST

START_TEST(percentiles_of_a_probe) {
  add_ok("Percentile 50\n" IN("Percentile 99.99 50\nPercentile 99") //
         "<Probe \"memlat\">\n</Probe>\nPercentile 90");
  assert_percentiles(&conf.percentiles, 2, 50., 90.);
  assert_percentiles(&conf.probes[0].percentiles, 3, 50., 99., 99.99);
  ck_assert_uint_eq(conf.probes[1].percentiles.count, 0);
}
END_TEST

START_TEST(named_probes_replace_the_default) {
  add_ok("<Probe \"syscall\">\n</Probe>");
  assert_probes("syscall");
  ck_assert(conf.probes_named);
  add_ok("MaxGroups 5");
  add_ok("<pRoBe \"my_probe_15_abc\">\n</pRoBe>\nProbe iolat\n");
  assert_probes("syscall my_probe_15_abc iolat");
  ck_assert_uint_eq(conf.max_groups, 5);
}
END_TEST

START_TEST(group_by) {
  add_ok(IN("GroupBy \"none\"") //
         "<Probe \"iolat\">\nGroupBy \"op\" comm\nGroupBy "
         "\"abcdefghijklmno\"\n</Probe>\n");
  ck_assert(conf.probes[0].grouped);
  ck_assert_uint_eq(conf.probes[0].group_by_num, 0);
  ck_assert(conf.probes[1].grouped);
  ck_assert_uint_eq(conf.probes[1].group_by_num, 3);
  ck_assert_str_eq(conf.probes[1].group_by[0], "op");
  ck_assert_str_eq(conf.probes[1].group_by[1], "comm");
  ck_assert_str_eq(conf.probes[1].group_by[2], "abcdefghijklmno");
}
END_TEST

START_TEST(processes_and_pids_add_up) {
  add_ok(IN("Process \"a b\" \"(sd-pam)\"\nPid 1 4194304\nPROCESS \"*\"\n"
            "Process \"\xe6\x97\xa5\xe6\x9c\xac\"\npid 42"));
  const struct config_probe *probe = &conf.probes[0];
  ck_assert_uint_eq(probe->comms_num, 4);
  ck_assert_str_eq(probe->comms[0], "a b");
  ck_assert_str_eq(probe->comms[1], "(sd-pam)");
  ck_assert_str_eq(probe->comms[2], "*");
  ck_assert_str_eq(probe->comms[3], "\xe6\x97\xa5\xe6\x9c\xac");
  ck_assert_uint_eq(probe->pids_num, 3);
  ck_assert_uint_eq(probe->pids[0], 1);
  ck_assert_uint_eq(probe->pids[1], 4194304);
  ck_assert_uint_eq(probe->pids[2], 42);
  ck_assert_ptr_null(config__warning(&conf));
}
END_TEST

START_TEST(long_process_names) {
  add_ok(IN("Process \"fifteen_bytes_x\" \"sixteen_bytes_xy\"\n"
            "Process \"a_very_long_process_name\""));
  const struct config_probe *probe = &conf.probes[0];
  ck_assert_str_eq(probe->comms[0], "fifteen_bytes_x");
  ck_assert_str_eq(probe->comms[1], "sixteen_bytes_x");
  ck_assert_str_eq(probe->comms[2], "a_very_long_pro");
  ck_assert_str_eq(config__warning(&conf),
                   RUNQLAT "Process \"sixteen_bytes_xy\": the kernel keeps 15 "
                           "bytes of a name, comparing with "
                           "\"sixteen_bytes_x\"");
  ck_assert_str_eq(config__warning(&conf),
                   RUNQLAT "Process \"a_very_long_process_name\": the kernel "
                           "keeps 15 bytes of a name, comparing with "
                           "\"a_very_long_pro\"");
  ck_assert_ptr_null(config__warning(&conf));
  ck_assert_ptr_null(config__warning(&conf));

  add_ok("<Probe \"memlat\">\nProcess \"sixteen_bytes_zz\"\n</Probe>");
  ck_assert_ptr_nonnull(strstr(config__warning(&conf), "memlat"));
  ck_assert_ptr_null(config__warning(&conf));
}
END_TEST

/* 14 bytes, and then a character of 2. */
START_TEST(process_name_is_cut_by_bytes) {
  add_ok(IN("Process \"abcdefghijklmn\xc3\xa4\""));
  ck_assert_str_eq(conf.probes[0].comms[0], "abcdefghijklmn\xc3");
  ck_assert_ptr_nonnull(
      strstr(config__warning(&conf), "with \"abcdefghijklmn\\xc3\""));
}
END_TEST

START_TEST(filters_are_kept) {
  add_ok(IN("Syscall \"read\" write\nCgroup \"/a\"\nSYSCALL \"futex\""));
  const struct config_probe *probe = &conf.probes[0];
  ck_assert_uint_eq(probe->filters_num, 2);
  ck_assert_str_eq(probe->filters[0].option, "Syscall");
  ck_assert_uint_eq(probe->filters[0].values_num, 3);
  ck_assert_str_eq(probe->filters[0].values[0], "read");
  ck_assert_str_eq(probe->filters[0].values[1], "write");
  ck_assert_str_eq(probe->filters[0].values[2], "futex");
  ck_assert_str_eq(probe->filters[1].option, "Cgroup");
  ck_assert_uint_eq(probe->filters[1].values_num, 1);
}
END_TEST

START_TEST(further_values_of_the_plugin_block) {
  oconfig_value_t values[] = {
      {{.string = "ebpf_latency"}, OCONFIG_TYPE_STRING},
      {{.number = 3}, OCONFIG_TYPE_NUMBER},
  };
  oconfig_item_t block = {"Plugin", values, 2, NULL, NULL, 0};
  ck_assert_int_eq(config__add(&conf, &block, err, sizeof(err)), 0);
}
END_TEST

START_TEST(free_of_nothing) {
  struct config nothing;
  memset(&nothing, 0, sizeof(nothing));
  config__free(&nothing);
  config__free(NULL);
  config__free(&conf);
  config__free(&conf);
}
END_TEST

/* The lexer, as far as it surprises: what the cases above rely on. */
static const struct {
  const char *text, *values; /* n: number, s: string, b: boolean */
} lines[] = {
    {"K 99,9", "nn"},          {"K 1e2", "s"},
    {"K 1e-6", "sn"},          {"K 1.0e6", "ns"},
    {"K 1.5ms", "ns"},         {"K 5ms", "s"},
    {"K 1.0e-6", "n"},         {"K 0x10", "n"},
    {"K .5 +1 -2.5", "nnn"},   {"K true off Yes", "bbs"},
    {"K a-b a.b", "ssss"},     {"K nan 1e20", "ss"},
    {"K \"a\\\"b\" # c", "s"}, {"K", ""},
};

START_TEST(lexer) {
  oconfig_item_t *block = oconfig_text__parse(lines[_i].text);
  ck_assert_ptr_nonnull(block);
  ck_assert_int_eq(block->children_num, 1);
  char values[8] = "";
  for (int i = 0; i < block->children[0].values_num; i++)
    values[i] = "snb"[block->children[0].values[i].type];
  ck_assert_str_eq(values, lines[_i].values);
  oconfig_text__free(block);
}
END_TEST

START_TEST(syntax_errors) {
  static const char *const texts[] = {
      "K \"a", "/dev/sda", "<A>\nK 1\n", "<A>\n</B>\n", "</A>", "<A\n</A>", "1",
  };
  for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
    ck_assert_msg(oconfig_text__parse(texts[i]) == NULL, "%s", texts[i]);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("config");
  TCase *tcase = tcase_create("good");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, defaults);
  tcase_add_test(tcase, every_scalar);
  tcase_add_test(tcase, functions);
  tcase_add_test(tcase, scalar_again_replaces);
  tcase_add_test(tcase, percentiles_are_sorted_and_unique);
  tcase_add_test(tcase, decimal_comma_is_two_percentiles);
  tcase_add_test(tcase, minus_zero_is_zero);
  tcase_add_test(tcase, percentiles_once_more_take_no_room);
  tcase_add_test(tcase, percentiles_of_a_probe);
  tcase_add_test(tcase, named_probes_replace_the_default);
  tcase_add_test(tcase, group_by);
  tcase_add_test(tcase, processes_and_pids_add_up);
  tcase_add_test(tcase, long_process_names);
  tcase_add_test(tcase, process_name_is_cut_by_bytes);
  tcase_add_test(tcase, filters_are_kept);
  tcase_add_test(tcase, further_values_of_the_plugin_block);
  tcase_add_test(tcase, free_of_nothing);
  suite_add_tcase(suite, tcase);

  tcase = tcase_create("text");
  tcase_add_loop_test(tcase, lexer, 0, ARRAY_SIZE(lines));
  tcase_add_test(tcase, syntax_errors);
  suite_add_tcase(suite, tcase);
  return suite;
}
