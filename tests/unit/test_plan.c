/* SPDX-License-Identifier: MIT */
/*
 * The plan of a probe: what the kernel half is told, how label sets are named,
 * and what is refused because the probe does not know it.
 */
#include "description.h"
#include "oconfig_text.h"
#include "plan.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct latency_description description = {
    .abi_version = LATENCY_ABI_VERSION,
    .has_task = 1,
    .name = "blk",
    .labels = {{.name = "number"},
               {.name = "op",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "read write flush"},
               {.name = "phase",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "queue device total",
                .inner = 3},
               {.name = "call",
                .option = "Call",
                .decoder = LATENCY_DECODE_SYSCALL,
                .optional = 1}},
    .rungs = {{.name = "tp_btf", .programs = "x"},
              {.name = "kprobe", .programs = "y"}},
};

static struct config conf;
static struct plan plan;
static char err[CONFIG_ERROR_LEN];

/* The plan for `<Probe "blk">` with these lines, in a block with `global`. */
static int make(const struct latency_description *desc, const char *global,
                const char *lines) {
  char text[1024];
  snprintf(text, sizeof(text), "%s\n<Probe \"blk\">\n%s\n</Probe>\n", global,
           lines);
  oconfig_item_t *block = oconfig_text__parse(text);
  ck_assert_ptr_nonnull(block);
  config__free(&conf);
  ck_assert_int_eq(config__init(&conf, "/probes"), 0);
  ck_assert_msg(config__add(&conf, block, err, sizeof(err)) == 0, "%s", err);
  oconfig_text__free(block);
  err[0] = '\0';
  return plan__make(&conf, &conf.probes[0], desc, &plan, err, sizeof(err));
}

static const struct {
  const char *global, *lines;
  uint32_t group_by, inner, groups;
} groupings[] = {
    {"", "", 0x3, 3, 10},
    {"MaxGroups 2", "", 0x3, 3, 1},
    {"", "GroupBy \"none\"", 0, 1, 0},
    {"", "GroupBy \"phase\"", 0, 3, 0},
    {"", "GroupBy \"op\"", 0x2, 1, 3},
    {"MaxGroups 2", "GroupBy \"op\"", 0x2, 1, 2},
    {"", "GroupBy \"comm\"", LATENCY_GROUP_BY_COMM, 1, 32},
    {"MaxGroups 4096", "GroupBy \"comm\" \"number\" \"op\"",
     LATENCY_GROUP_BY_COMM | 0x3, 1, 4096},
    {"", "GroupBy \"call\" \"phase\"", 0x8, 3, 10},
};

START_TEST(groups_by) {
  ck_assert_msg(make(&description, groupings[_i].global, groupings[_i].lines) ==
                    0,
                "%s", err);
  ck_assert_uint_eq(plan.kernel.group_by, groupings[_i].group_by);
  ck_assert_uint_eq(plan.kernel.inner, groupings[_i].inner);
  ck_assert_uint_eq(plan.groups, groupings[_i].groups);
}
END_TEST

static const struct {
  const char *lines;
  struct latency_key key;
  uint32_t inner;
  bool other;
  const char *name;
} names[] = {
    {"", {.own = {7, 1}}, 2, false, "blk-7-write-total"},
    {"", {.own = {0}}, 0, true, "blk-other-queue"},
    {"GroupBy \"none\"", {.own = {0}}, 0, false, "blk"},
    {"GroupBy \"phase\"", {.own = {0}}, 1, false, "blk-device"},
    {"GroupBy \"phase\" \"op\"", {.own = {0, 2}}, 1, false, "blk-device-flush"},
    {"GroupBy \"comm\"", {.comm = "dd"}, 0, false, "blk-dd"},
    {"GroupBy \"comm\"", {.comm = "dd"}, 0, true, "blk-other"},
    {"GroupBy \"call\"", {.own = {0, 0, 0, 39}}, 0, false, "blk-getpid"},
};

START_TEST(names_label_sets) {
  char name[METRIC_NAME_LEN];
  ck_assert_msg(make(&description, "", names[_i].lines) == 0, "%s", err);
  plan__instance(&plan, &description, &names[_i].key, names[_i].inner,
                 names[_i].other, name);
  ck_assert_str_eq(name, names[_i].name);
}
END_TEST

/* A process that is called "other" is not the rest. */
START_TEST(keeps_other_apart) {
  const struct latency_key key = {.comm = "other"};
  char name[METRIC_NAME_LEN], rest[METRIC_NAME_LEN];
  ck_assert_int_eq(make(&description, "", "GroupBy \"comm\""), 0);
  plan__instance(&plan, &description, &key, 0, false, name);
  plan__instance(&plan, &description, &key, 0, true, rest);
  ck_assert_str_eq(rest, "blk-other");
  ck_assert_str_ne(name, rest);
}
END_TEST

START_TEST(passes_filters_on) {
  ck_assert_msg(make(&description, "",
                     "Process \"dd\" \"cat\"\nPid 12 4194304\n"
                     "Call \"getpid\" \"read\"") == 0,
                "%s", err);
  ck_assert_uint_eq(plan.kernel.comms, 2);
  ck_assert_int_eq(memcmp(plan.kernel.comm[1], "cat\0\0\0\0\0\0\0\0\0\0\0\0\0",
                          LATENCY_COMM_LEN),
                   0);
  ck_assert_uint_eq(plan.kernel.pids, 2);
  ck_assert_uint_eq(plan.kernel.pid[0], 12);
  ck_assert_uint_eq(plan.kernel.pid[1], 4194304);
  ck_assert_uint_eq(plan.kernel.values, 1);
  ck_assert_uint_eq(plan.kernel.value[0], 1ull << 39 | 1);
}
END_TEST

/* On one function, and on those that are named. */
static const struct latency_description on_libc = {
    .has_task = 1,
    .name = "blk",
    .target = LATENCY_TARGET_LIBC_FUNCTION,
    .symbol = "malloc",
    .labels = {{.name = "size", .decoder = LATENCY_DECODE_POWER}},
    .rungs = {{.name = "uprobe", .programs = "x"}},
};
static const struct latency_description on_functions = {
    .has_task = 1,
    .name = "blk",
    .target = LATENCY_TARGET_FUNCTIONS,
    .labels = {{.name = "function", .decoder = LATENCY_DECODE_FUNCTION}},
    .rungs = {{.name = "uprobe", .programs = "x"}},
};

#define FUNCTION(name, lines)                                                  \
  "<Function \"" name "\">\n" lines "\n</Function>\n"

static void assert_target(size_t i, const char *name, const char *binary,
                          const char *symbol, bool in_kernel) {
  const struct plan_target *target = &plan.targets[i];
  ck_assert_str_eq(target->name, name);
  ck_assert_pstr_eq(target->binary, binary);
  ck_assert_str_eq(target->symbol, symbol);
  ck_assert_int_eq(target->in_kernel, in_kernel);
}

START_TEST(targets) {
  ck_assert_int_eq(make(&description, "", ""), 0);
  ck_assert_uint_eq(plan.targets_num, 0);

  ck_assert_int_eq(make(&on_libc, "", ""), 0);
  ck_assert_uint_eq(plan.targets_num, 1);
  assert_target(0, "", NULL, "malloc", false);
  ck_assert_uint_eq(plan.groups, 32);
  ck_assert_int_eq(make(&on_libc, "MaxGroups 4096", ""), 0);
  ck_assert_uint_eq(plan.groups, LATENCY_POWER_CLASSES);
  ck_assert_int_eq(make(&on_libc, "", "Binary \"/x\"\nSymbol \"je\""), 0);
  assert_target(0, "", "/x", "je", false);

  ck_assert_int_eq(make(&on_functions, "",
                        FUNCTION("a", "Binary \"/x\"\nSymbol \"f\"")
                            FUNCTION("b", "Binary \"/x\"")
                                FUNCTION("c", "Symbol \"tcp_sendmsg\"")
                                    FUNCTION("vfs_read", "")),
                   0);
  ck_assert_uint_eq(plan.targets_num, 4);
  ck_assert_uint_eq(plan.groups, 4);
  assert_target(0, "a", "/x", "f", false);
  assert_target(1, "b", "/x", "b", false);
  assert_target(2, "c", NULL, "tcp_sendmsg", true);
  assert_target(3, "vfs_read", NULL, "vfs_read", true);

  char name[METRIC_NAME_LEN];
  const struct latency_key key = {.own = {3}}, unknown = {.own = {4}};
  plan__instance(&plan, &on_functions, &key, 0, false, name);
  ck_assert_str_eq(name, "blk-vfs_read");
  plan__instance(&plan, &on_functions, &unknown, 0, false, name);
  ck_assert_str_eq(name, "blk-function_4");
}
END_TEST

static const struct {
  const struct latency_description *desc;
  const char *lines, *message;
} bad_targets[] = {
    {&description, "Binary \"/x\"", "Binary \"/x\": no option of this"},
    {&description, "Symbol \"x\"", "Symbol \"x\": no option of this probe"},
    {&description, FUNCTION("f", ""), "Function \"f\": no option of this"},
    {&on_libc, FUNCTION("f", ""), "Function \"f\": no option of this probe"},
    {&on_functions, "", "Function: there must be at least one <Function>"},
    {&on_functions, FUNCTION("f", "") "Binary \"/x\"",
     "Binary \"/x\": belongs into a <Function> block"},
    {&on_functions, FUNCTION("f", "") "Symbol \"x\"",
     "Symbol \"x\": belongs into a <Function> block"},
};

START_TEST(refuses_targets) {
  static const char start[] = "<Plugin ebpf_latency>, <Probe \"blk\">: ";
  ck_assert_int_eq(make(bad_targets[_i].desc, "", bad_targets[_i].lines),
                   -EINVAL);
  ck_assert_msg(strncmp(err, start, strlen(start)) == 0, "%s", err);
  ck_assert_msg(strstr(err, bad_targets[_i].message) != NULL, "%s", err);
}
END_TEST

static const struct {
  const char *lines, *key, *value, *hint;
} refused[] = {
    {"GroupBy \"cgroup\"", "GroupBy", "\"cgroup\"", "number, op, phase"},
    {"GroupBy \"comm\" \"Op\"", "GroupBy", "\"Op\"", "no label"},
    {"Syscall \"read\"", "Syscall", "\"read\"", "no option"},
    {"Call \"read\" \"reed\"", "Call", "\"reed\"", "no such call"},
    {"Rung \"fentry\"", "Rung", "\"fentry\"", "tp_btf, kprobe"},
};

START_TEST(refuses) {
  ck_assert_int_eq(make(&description, "", refused[_i].lines), -EINVAL);
  ck_assert_ptr_nonnull(strstr(err, "<Probe \"blk\">"));
  ck_assert_ptr_nonnull(strstr(err, refused[_i].key));
  ck_assert_ptr_nonnull(strstr(err, refused[_i].value));
  ck_assert_ptr_nonnull(strstr(err, refused[_i].hint));
  ck_assert_ptr_null(strchr(err, '\n'));
}
END_TEST

static const char *const task_options[] = {"Process \"dd\"", "Pid 1",
                                           "GroupBy \"comm\""};

/* Without a task there is nobody to filter by or to name. */
START_TEST(refuses_without_task) {
  struct latency_description taskless = description;
  taskless.has_task = 0;
  ck_assert_int_eq(make(&taskless, "", task_options[_i]), -EINVAL);
  ck_assert_ptr_nonnull(strstr(err, "<Probe \"blk\">"));
}
END_TEST

START_TEST(takes_percentiles_and_bounds) {
  ck_assert_int_eq(make(&description, "Percentile 10\nBucketBounds 1024 4096",
                        "Percentile 75"),
                   0);
  ck_assert_uint_eq(plan.options.percentiles->count, 1);
  ck_assert(plan.options.percentiles->value[0] == 75);
  ck_assert_uint_eq(plan.options.low_exp, 10);
  ck_assert_uint_eq(plan.options.high_exp, 12);
  ck_assert_int_eq(make(&description, "Percentile 10", ""), 0);
  ck_assert(plan.options.percentiles->value[0] == 10);
}
END_TEST

static void tear_down(void) { config__free(&conf); }

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

Suite *test_suite(void);
Suite *test_suite(void) {
  Suite *suite = suite_create("plan");
  TCase *cases = tcase_create("plan");
  tcase_add_checked_fixture(cases, NULL, tear_down);
  tcase_add_loop_test(cases, groups_by, 0, COUNT(groupings));
  tcase_add_loop_test(cases, names_label_sets, 0, COUNT(names));
  tcase_add_test(cases, keeps_other_apart);
  tcase_add_test(cases, passes_filters_on);
  tcase_add_test(cases, targets);
  tcase_add_loop_test(cases, refuses_targets, 0, COUNT(bad_targets));
  tcase_add_loop_test(cases, refuses, 0, COUNT(refused));
  tcase_add_loop_test(cases, refuses_without_task, 0, COUNT(task_options));
  tcase_add_test(cases, takes_percentiles_and_bounds);
  suite_add_tcase(suite, cases);
  return suite;
}
