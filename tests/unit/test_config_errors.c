/* SPDX-License-Identifier: MIT */
/* Configuration text with one mistake in, one sentence out. */
#include "config.h"

#include "oconfig_text.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static int add(const char *text) {
  oconfig_item_t *block = oconfig_text__parse(text);
  ck_assert_msg(block != NULL, "syntax: %s", text);
  int status = config__add(&conf, block, err, sizeof(err));
  oconfig_text__free(block);
  return status;
}

static void add_ok(const char *text) {
  int status = add(text);
  ck_assert_msg(status == 0, "%s: %d, %s", text, status, err);
}

/* `times` times FORMAT, a number each from 1 on. */
static char *repeat(const char *start, const char *format, int times,
                    const char *end) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  ck_assert_ptr_nonnull(out);
  fputs(start, out);
  for (int i = 1; i <= times; i++)
    fprintf(out, format, i);
  fputs(end, out);
  fclose(out);
  return text;
}

#define PLUGIN "<Plugin ebpf_latency>: "
#define RUNQLAT "<Plugin ebpf_latency>, <Probe \"runqlat\">: "
#define IN(lines) "<Probe \"runqlat\">\n" lines "\n</Probe>\n"

#define NAME_RULE "must be 1 to 15 of a-z, 0-9 and _"
#define KNOWN                                                                  \
  "known are: Percentile, Buckets, CumulativeBuckets, BucketBounds, "          \
  "MaxGroups, ProbeDir, <Probe>"
#define KNOWN_IN                                                               \
  "known are: GroupBy, Process, Pid, Percentile, Rung, Binary, Symbol, "       \
  "<Function>, and the filters of the probe, which take strings in quotes"
#define SEND "<Plugin ebpf_latency>, <Probe \"runqlat\">, <Function \"send\">: "
#define IN_SEND(lines) IN("<Function \"send\">\n" lines "\n</Function>")

static const struct {
  const char *text;
  const char *message;
} bad[] = {
    /* Unknown */
    {"Percentil 99", PLUGIN "unknown option Percentil (value 99); " KNOWN},
    {"Foo \"a\" 2 true", PLUGIN "unknown option Foo (value \"a\" 2 true); "},
    {"Foo 1 2 3 4 5", PLUGIN "unknown option Foo (value 1 2 3 ...); "},
    {"<Snapshot>\nDirectory \"/x\"\n</Snapshot>",
     PLUGIN "unknown block Snapshot; " KNOWN},
    {"<Foo \"bar\">\nPid 1\n</Foo>",
     PLUGIN "unknown block Foo (value \"bar\"); "},
    {"Process \"x\"", PLUGIN "unknown option Process (value \"x\"); "},
    {IN("MaxGroups 5"),
     RUNQLAT "unknown option MaxGroups (value 5); " KNOWN_IN},
    {IN("Slow true"), RUNQLAT "unknown option Slow (value true); "},
    {IN("Syscall \"read\" 3"),
     RUNQLAT "unknown option Syscall (value \"read\" 3); " KNOWN_IN},
    {IN("Syscall"), RUNQLAT "unknown option Syscall; "},
    {IN("Syscall \"\""), RUNQLAT "Syscall \"\": must not be empty"},
    {IN("<Probe \"memlat\">\nPid 1\n</Probe>"),
     RUNQLAT "unknown block Probe (value \"memlat\"); "},

    /* Percentile */
    {"Percentile", PLUGIN "Percentile: must have at least 1 value, and has 0"},
    {"Percentile 101", PLUGIN "Percentile 101: must be a number from 0 to 100"},
    {"Percentile 50 -1 99",
     PLUGIN "Percentile -1: must be a number from 0 to 100"},
    {"Percentile -0.001", PLUGIN "Percentile -0.001: must be a number"},
    {"Percentile 100.000001", PLUGIN "Percentile 100.000001: must be a number"},
    {"Percentile \"99.9\"", PLUGIN
     "Percentile \"99.9\": must be a number from 0 to 100, not a string"},
    {"Percentile \"99,9\"", PLUGIN "Percentile \"99,9\": must be a number"},
    {"Percentile 1e2", PLUGIN "Percentile \"1e2\": must be a number"},
    {"Percentile 1e20", PLUGIN "Percentile \"1e20\": must be a number"},
    {"Percentile 1.0e+20",
     PLUGIN "Percentile 100000000000000000000: must be a number"},
    {"Percentile 1.0e+400", PLUGIN "Percentile inf: must be a number"},
    {"Percentile nan", PLUGIN "Percentile \"nan\": must be a number"},
    {"Percentile p99", PLUGIN "Percentile \"p99\": must be a number"},
    {"Percentile true",
     PLUGIN "Percentile true: must be a number from 0 to 100, not a boolean"},
    {"<Percentile 99>\nFoo 1\n</Percentile>",
     PLUGIN "Percentile 99: is an option, and must not be a block"},
    {IN("Percentile 101"),
     RUNQLAT "Percentile 101: must be a number from 0 to 100"},
    {IN("Percentile"), RUNQLAT "Percentile: must have at least 1 value"},

    /* Buckets, CumulativeBuckets */
    {"Buckets", PLUGIN "Buckets: must have exactly 1 value, and has 0"},
    {"Buckets true false",
     PLUGIN "Buckets true false: must have exactly 1 value, and has 2"},
    {"Buckets 1", PLUGIN "Buckets 1: must be true or false, not a number"},
    {"Buckets Yes", PLUGIN "Buckets \"Yes\": must be true or false, not a"},
    {"Buckets \"true\"", PLUGIN "Buckets \"true\": must be true or false"},
    {"CumulativeBuckets \"no\"",
     PLUGIN "CumulativeBuckets \"no\": must be true or false, not a string"},

    /* BucketBounds */
    {"BucketBounds 1024",
     PLUGIN "BucketBounds 1024: must have exactly 2 values, and has 1"},
    {"BucketBounds 1 2 4",
     PLUGIN "BucketBounds 1 2 4: must have exactly 2 values, and has 3"},
    {"BucketBounds 300 1024", PLUGIN "BucketBounds 300: must be a power of two "
                                     "from 1 to 1099511627776"},
    {"BucketBounds 256 1.5", PLUGIN "BucketBounds 1.5: must be a power of two"},
    {"BucketBounds 0 256", PLUGIN "BucketBounds 0: must be a power of two"},
    {"BucketBounds -256 256", PLUGIN "BucketBounds -256: must be a power of"},
    {"BucketBounds 1 2199023255552",
     PLUGIN "BucketBounds 2199023255552: must be a power of two"},
    {"BucketBounds 256 \"1024\"",
     PLUGIN "BucketBounds \"1024\": must be a power of two from 1 to "
            "1099511627776, not a string"},
    {"BucketBounds 1024 256",
     PLUGIN "BucketBounds 1024 256: the first must be below the second"},
    {"BucketBounds 256 256", PLUGIN "BucketBounds 256 256: the first must be"},

    /* MaxGroups */
    {"MaxGroups", PLUGIN "MaxGroups: must have exactly 1 value, and has 0"},
    {"MaxGroups 3 4",
     PLUGIN "MaxGroups 3 4: must have exactly 1 value, and has 2"},
    {"MaxGroups 0", PLUGIN "MaxGroups 0: must be an integer from 1 to 4096"},
    {"MaxGroups -1", PLUGIN "MaxGroups -1: must be an integer from 1 to 4096"},
    {"MaxGroups 1.5", PLUGIN "MaxGroups 1.5: must be an integer from 1 to"},
    {"MaxGroups 3.7", PLUGIN "MaxGroups 3.7: must be an integer from 1 to"},
    {"MaxGroups 4097", PLUGIN "MaxGroups 4097: must be an integer from 1 to"},
    {"MaxGroups 99999999999999999999",
     PLUGIN "MaxGroups 100000000000000000000: must be an integer from 1"},
    {"MaxGroups 1e20", PLUGIN "MaxGroups \"1e20\": must be an integer from 1"},
    {"MaxGroups \"many\"",
     PLUGIN "MaxGroups \"many\": must be an integer from 1 to 4096"},
    {"MaxGroups true", PLUGIN "MaxGroups true: must be an integer from 1 to"},
    {"<MaxGroups 5>\nFoo 1\n</MaxGroups>",
     PLUGIN "MaxGroups 5: is an option, and must not be a block"},

    /* ProbeDir */
    {"ProbeDir", PLUGIN "ProbeDir: must have exactly 1 value, and has 0"},
    {"ProbeDir 7", PLUGIN "ProbeDir 7: must be a string in quotes, not a num"},
    {"ProbeDir \"\"", PLUGIN "ProbeDir \"\": must not be empty"},
    {"ProbeDir \"a/b\"", PLUGIN "ProbeDir \"a/b\": must be an absolute path"},
    {"ProbeDir \"/a\" \"/b\"", PLUGIN "ProbeDir \"/a\" \"/b\": must have exa"},

    /* Probe */
    {"<Probe>\nPid 1\n</Probe>",
     PLUGIN "Probe: must have exactly 1 value, and has 0"},
    {"<Probe \"a\" \"b\">\n</Probe>",
     PLUGIN "Probe \"a\" \"b\": must have exactly 1 value, and has 2"},
    {"<Probe 7>\n</Probe>", PLUGIN "Probe 7: must be a string in quotes, not"},
    {"<Probe true>\n</Probe>", PLUGIN "Probe true: must be a string in quotes"},
    {"<Probe \"\">\n</Probe>", PLUGIN "Probe \"\": must not be empty"},
    {"<Probe \"Runqlat\">\n</Probe>", PLUGIN "Probe \"Runqlat\": " NAME_RULE},
    {"<Probe \"../x\">\n</Probe>", PLUGIN "Probe \"../x\": " NAME_RULE},
    {"<Probe \"a b\">\n</Probe>", PLUGIN "Probe \"a b\": " NAME_RULE},
    {"<Probe \"abcdefghijklmnop\">\n</Probe>",
     PLUGIN "Probe \"abcdefghijklmnop\": " NAME_RULE},
    {"<Probe \"runqlat\">\n</Probe>\n<Probe \"runqlat\">\n</Probe>",
     PLUGIN "Probe \"runqlat\": must not be named twice"},

    /* Rung */
    {IN("Rung 1"), RUNQLAT "Rung 1: must be a string in quotes, not a n"},
    {IN("Rung \"\""), RUNQLAT "Rung \"\": must not be empty"},
    {IN("Rung \"a\" \"b\""),
     RUNQLAT "Rung \"a\" \"b\": must have exactly 1 value, and has 2"},
    {IN("Rung \"123456789012345678901234\""),
     RUNQLAT "Rung \"123456789012345678901234\": must have at most 23 bytes"},

    /* Functions */
    {IN("Binary 1"), RUNQLAT "Binary 1: must be a string in quotes, not a n"},
    {IN("Binary \"libc.so.6\""),
     RUNQLAT "Binary \"libc.so.6\": must be an absolute path"},
    {IN("Symbol true"), RUNQLAT "Symbol true: must be a string in quotes"},
    {IN("Symbol \"a\" \"b\""),
     RUNQLAT "Symbol \"a\" \"b\": must have exactly 1 value, and has 2"},
    {IN("<Function>\nSymbol \"x\"\n</Function>"),
     RUNQLAT "Function: must have exactly 1 value, and has 0"},
    {IN("<Function 7>\nSymbol \"x\"\n</Function>"),
     RUNQLAT "Function 7: must be a string in quotes, not a number"},
    {IN("<Function \"\">\nSymbol \"x\"\n</Function>"),
     RUNQLAT "Function \"\": must not be empty"},
    {IN("<Function \"a\" \"b\">\nSymbol \"x\"\n</Function>"),
     RUNQLAT "Function \"a\" \"b\": must have exactly 1 value, and has 2"},
    {IN("<Function \"0123456789012345678901234567890123456789012345678901234567"
        "890123\">\nSymbol \"x\"\n</Function>"),
     RUNQLAT "Function \"012345678901234567890123456789012345678901\"...: must "
             "have at most 63 bytes"},
    {IN("<Function \"f\">\nSymbol \"x\"\n</Function>\n"
        "<Function \"f\">\nSymbol \"y\"\n</Function>"),
     RUNQLAT "Function \"f\": must not be named twice"},
    {IN_SEND("Binary \"a/b\""), SEND "Binary \"a/b\": must be an absolute"},
    {IN_SEND("Binary \"\""), SEND "Binary \"\": must not be empty"},
    {IN_SEND("Binary"), SEND "Binary: must have exactly 1 value, and has 0"},
    {IN_SEND("Symbol 1.5"), SEND "Symbol 1.5: must be a string in quotes"},
    {IN_SEND("Pid 1"),
     SEND "unknown option Pid (value 1); known are: Binary, Symbol"},
    {IN("<Function \"a\\\"\nb\">\nPid 1\n</Function>"),
     "<Plugin ebpf_latency>, <Probe \"runqlat\">, <Function \"a\\\"\\x0ab\">: "
     "unknown option Pid"},

    /* GroupBy */
    {IN("GroupBy"), RUNQLAT "GroupBy: must have at least 1 value, and has 0"},
    {IN("GroupBy 1"), RUNQLAT "GroupBy 1: must be a string in quotes, not a n"},
    {IN("GroupBy \"\""), RUNQLAT "GroupBy \"\": must not be empty"},
    {IN("GroupBy \"none\" \"comm\""),
     RUNQLAT "GroupBy \"comm\": \"none\" must be the only one"},
    {IN("GroupBy \"comm\" \"none\""),
     RUNQLAT "GroupBy \"none\": \"none\" must be the only one"},
    {IN("GroupBy \"none\"\nGroupBy \"comm\""),
     RUNQLAT "GroupBy \"comm\": \"none\" must be the only one"},
    {IN("GroupBy \"comm\" \"kind\" \"comm\""),
     RUNQLAT "GroupBy \"comm\": must not be given twice"},
    {IN("GroupBy \"comm\"\nGroupBy \"comm\""),
     RUNQLAT "GroupBy \"comm\": must not be given twice"},
    {IN("GroupBy \"abcdefghijklmnop\""),
     RUNQLAT "GroupBy \"abcdefghijklmnop\": must be a label of at most 15 byt"},
    {IN("<GroupBy \"comm\">\nFoo 1\n</GroupBy>"),
     RUNQLAT "GroupBy \"comm\": is an option, and must not be a block"},

    /* Process, Pid */
    {IN("Process"), RUNQLAT "Process: must have at least 1 value, and has 0"},
    {IN("Process \"a\" \"\""), RUNQLAT "Process \"\": must not be empty"},
    {IN("Process 1234"),
     RUNQLAT "Process 1234: must be a string in quotes, not a number"},
    {IN("Pid"), RUNQLAT "Pid: must have at least 1 value, and has 0"},
    {IN("Pid 0"), RUNQLAT "Pid 0: must be an integer from 1 to 4194304"},
    {IN("Pid 1 -2"), RUNQLAT "Pid -2: must be an integer from 1 to 4194304"},
    {IN("Pid 1.5"), RUNQLAT "Pid 1.5: must be an integer from 1 to 4194304"},
    {IN("Pid 4194305"), RUNQLAT "Pid 4194305: must be an integer from 1 to"},
    {IN("Pid \"12\""), RUNQLAT "Pid \"12\": must be an integer from 1 to"},

    /* What cannot stand in a log line */
    {"ProbeDir \"a\nb\"", PLUGIN "ProbeDir \"a\\x0ab\": must be an absolute"},
    {"ProbeDir \"\x1b[31m\x7f\"", PLUGIN "ProbeDir \"\\x1b[31m\\x7f\": must"},
    {"ProbeDir \"a\\\"b\\\\c\"", PLUGIN "ProbeDir \"a\\\"b\\\\c\": must be"},
    {"ProbeDir \"\xc3\xa4\xe6\x97\xa5\"",
     PLUGIN "ProbeDir \"\xc3\xa4\xe6\x97\xa5\": must be an absolute path"},
    {"ProbeDir \"\xc3z\xc2\x85\xff\"",
     PLUGIN "ProbeDir \"\\xc3z\\xc2\\x85\\xff\": must be an absolute path"},
    {"ProbeDir "
     "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
     PLUGIN "ProbeDir \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"...: "
            "must be an absolute path"},
    {"Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1",
     PLUGIN "unknown option Aaaaaaaaaaaaaaaaaaaaaaaaaaaa... (value 1); "},
};

START_TEST(bad_line) {
  int status = add(bad[_i].text);
  ck_assert_msg(status == -EINVAL, "%s: %d", bad[_i].text, status);
  ck_assert_msg(strncmp(err, bad[_i].message, strlen(bad[_i].message)) == 0,
                "%s\n%s", bad[_i].text, err);
  ck_assert_msg(strchr(err, '\n') == NULL, "%s", err);
  ck_assert_ptr_null(config__warning(&conf));
}
END_TEST

/* One more than there is room for, on one line and on several. */
static const struct {
  const char *start, *format;
  int max;
  const char *end, *message;
} full[] = {
    {"Percentile", " %d", 32, "", PLUGIN "Percentile 33: is one too many, at "},
    {"", "Percentile %d\n", 32, "", PLUGIN "Percentile 33: is one too many, "},
    {IN("Percentile 0") "<Probe \"a\">\nPercentile", " %d", 32, "\n</Probe>",
     "<Plugin ebpf_latency>, <Probe \"a\">: Percentile 33: is one too many, "
     "at most 32 are possible"},
    {"<Probe \"runqlat\">\nGroupBy", " \"l%d\"", 8, "\n</Probe>",
     RUNQLAT "GroupBy \"l9\": is one too many, at most 8 are possible"},
    {"<Probe \"runqlat\">\nProcess", " \"p%d\"", 16, "\n</Probe>",
     RUNQLAT "Process \"p17\": is one too many, at most 16 are possible"},
    {"<Probe \"runqlat\">\n", "Process \"p%d\"\n", 16, "</Probe>",
     RUNQLAT "Process \"p17\": is one too many, at most 16 are possible"},
    {"<Probe \"runqlat\">\nPid", " %d", 16, "\n</Probe>",
     RUNQLAT "Pid 17: is one too many, at most 16 are possible"},
    {"<Probe \"runqlat\">\n", "Pid %d\n", 16, "</Probe>",
     RUNQLAT "Pid 17: is one too many, at most 16 are possible"},
    {"<Probe \"runqlat\">\n", "<Function \"f%d\">\nSymbol \"x\"\n</Function>\n",
     16, "</Probe>",
     RUNQLAT "Function \"f17\": is one too many, at most 16 are possible"},
};

START_TEST(full_list) {
  char *text =
      repeat(full[_i].start, full[_i].format, full[_i].max, full[_i].end);
  add_ok(text);
  free(text);

  teardown();
  setup();
  text =
      repeat(full[_i].start, full[_i].format, full[_i].max + 1, full[_i].end);
  ck_assert_int_eq(add(text), -EINVAL);
  ck_assert_msg(strncmp(err, full[_i].message, strlen(full[_i].message)) == 0,
                "%s\n%s", text, err);
  free(text);
}
END_TEST

START_TEST(nan_is_in_no_range) {
  oconfig_value_t value = {{.number = NAN}, OCONFIG_TYPE_NUMBER};
  oconfig_item_t item = {"Percentile", &value, 1, NULL, NULL, 0};
  oconfig_item_t block = {"Plugin", NULL, 0, NULL, &item, 1};
  ck_assert_int_eq(config__add(&conf, &block, err, sizeof(err)), -EINVAL);
  ck_assert_ptr_nonnull(strstr(err, "nan: must be a number from 0 to 100"));
}
END_TEST

START_TEST(long_message_is_cut) {
  oconfig_item_t *block = oconfig_text__parse("Percentil 99");
  char small[24];
  memset(small, 'x', sizeof(small));
  ck_assert_int_eq(config__add(&conf, block, small, sizeof(small)), -EINVAL);
  ck_assert_str_eq(small, "<Plugin ebpf_latency>: ");
  oconfig_text__free(block);
}
END_TEST

/* Every key and value as long as can be, and what is allowed still follows. */
START_TEST(longest_message_is_whole) {
  char *text = repeat("<Probe \"abcdefghijklmno\">\nK", "%062d", 1, "");
  char *line = repeat(text, " \"%0100d\"", 5, " 1\n</Probe>");
  ck_assert_int_eq(add(line), -EINVAL);
  static const char end[] = KNOWN_IN;
  ck_assert_msg(strlen(err) > strlen(end) &&
                    strcmp(err + strlen(err) - strlen(end), end) == 0,
                "%s", err);
  free(line);
  free(text);
}
END_TEST

START_TEST(probe_named_twice_over_blocks) {
  add_ok("<Probe \"iolat\">\n</Probe>");
  add_ok("<Probe \"memlat\">\n</Probe>");
  ck_assert_int_eq(add("<Probe \"iolat\">\nPid 1\n</Probe>"), -EINVAL);
  ck_assert_str_eq(err, PLUGIN "Probe \"iolat\": must not be named twice");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("config errors");
  TCase *tcase = tcase_create("bad");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, bad_line, 0, ARRAY_SIZE(bad));
  tcase_add_loop_test(tcase, full_list, 0, ARRAY_SIZE(full));
  tcase_add_test(tcase, nan_is_in_no_range);
  tcase_add_test(tcase, long_message_is_cut);
  tcase_add_test(tcase, longest_message_is_whole);
  tcase_add_test(tcase, probe_named_twice_over_blocks);
  suite_add_tcase(suite, tcase);
  return suite;
}
