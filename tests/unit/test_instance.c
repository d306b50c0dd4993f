/* SPDX-License-Identifier: MIT */
/*
 * The names of label sets: people's where they can be, and never the same for
 * two of them.
 */
#include "metric.h"

#include "field.h"
#include "random.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static void instance(const char *probe, const char *const *labels, size_t n,
                     char ret_name[METRIC_NAME_LEN]) {
  metric__instance(probe, labels, n, "other", ret_name);
  assert_field(ret_name, PLAIN);
  if (strncmp(ret_name, probe, strlen(probe)) != 0)
    ck_abort_msg("not of probe %s: \"%s\"", probe, ret_name);
}

/* Label sets whose names need no hash, because people read them. */
static const struct {
  const char *labels[3];
  size_t labels_num;
  const char *name;
} plain_names[] = {
    {{NULL}, 0, "iolat"},
    {{"vda"}, 1, "iolat-vda"},
    {{"vda", "write", "device"}, 3, "iolat-vda-write-device"},
    {{"vda", "other", "queue"}, 3, "iolat-vda-other-queue"},
    {{"dm-0", "write", "device"}, 3, "iolat-dm-0-write-device"},
    {{"compat_getpid"}, 1, "iolat-compat_getpid"},
    {{"kworker-0-1-x"}, 1, "iolat-kworker-0-1-x"},
    {{"Web_Content"}, 1, "iolat-Web_Content"},
    {{"0123456789012345678901234567", "0123456789012345678901234567"},
     2, /* 63 bytes: as long as can be */
     "iolat-0123456789012345678901234567-"
     "0123456789012345678901234567"},
};

START_TEST(plain_name) {
  char name[METRIC_NAME_LEN];
  instance("iolat", plain_names[_i].labels, plain_names[_i].labels_num, name);
  ck_assert_str_eq(name, plain_names[_i].name);
}
END_TEST

/* And those that do: the name but for the 8 digits. */
static const struct {
  const char *labels[2];
  size_t labels_num;
  const char *start;
} hashed_names[] = {
    {{""}, 1, "p--"},
    {{"a/b"}, 1, "p-a_b-"},
    {{"日本"}, 1, "p-______-"},
    {{"other"}, 1, "p-other-"},
    {{"other", "read"}, 2, "p-other-read-"},
    {{"a", "b-c"}, 2, "p-a-b-c-"},
    {{"a-0123abcd"}, 1, "p-a-0123abcd-"},
    {{"0123abcd"}, 1, "p-0123abcd-"},
    {{"012345678901234567890123456789", "0123456789012345678901234567890"},
     2,
     "p-012345678901234567890123456789-012345678901234567890-"},
};

START_TEST(hashed_name) {
  char name[METRIC_NAME_LEN];
  const char *start = hashed_names[_i].start;
  instance("p", hashed_names[_i].labels, hashed_names[_i].labels_num, name);
  ck_assert_uint_eq(strlen(name), strlen(start) + 8);
  ck_assert_mem_eq(name, start, strlen(start));
  ck_assert_uint_eq(strspn(name + strlen(start), "0123456789abcdef"), 8);
}
END_TEST

/* The rest of a full probe keeps the plain name that no other can have. */
START_TEST(name_of_the_rest) {
  char rest[METRIC_NAME_LEN], named[METRIC_NAME_LEN];
  const char *const labels[] = {"other", "device"};
  for (size_t n = 1; n <= 2; n++) {
    metric__instance("iolat", labels, n, NULL, rest);
    metric__instance("iolat", labels, n, "other", named);
    ck_assert_str_ne(rest, named);
    ck_assert_str_eq(rest, n == 1 ? "iolat-other" : "iolat-other-device");
  }
}
END_TEST

static int compare_strings(const void *a, const void *b) {
  return strcmp(a, b);
}

static void assert_distinct(char (*names)[METRIC_NAME_LEN], size_t n) {
  qsort(names, n, METRIC_NAME_LEN, compare_strings);
  for (size_t i = 1; i < n; i++)
    if (strcmp(names[i - 1], names[i]) == 0)
      ck_abort_msg("twice: %s", names[i]);
}

START_TEST(comms_stay_apart) {
  static const char *const comms[] = {"a/b",
                                      "a.b",
                                      "a b",
                                      "a,b",
                                      "a_b",
                                      "a-b",
                                      "a\nb",
                                      "a\tb",
                                      "a;b",
                                      "a=b",
                                      "a:b",
                                      "a%b",
                                      "(sd-pam)",
                                      "_sd-pam_",
                                      "[sd-pam]",
                                      "日本",
                                      "本日",
                                      "______",
                                      "..",
                                      ".",
                                      "__",
                                      "_",
                                      "",
                                      " ",
                                      "*",
                                      "?",
                                      "other",
                                      "Other",
                                      "other ",
                                      "{a}",
                                      "ACPI:Ged",
                                      "ACPI_Ged",
                                      "virtio1-req.0",
                                      "virtio1-req_0",
                                      "LLLLLLLLLLLLLLL",
                                      "LLLLLLLLLLLLLL",
                                      "\x7f",
                                      "\x80"};
  char names[LEN(comms)][METRIC_NAME_LEN];
  for (size_t i = 0; i < LEN(comms); i++)
    instance("runqlat", &comms[i], 1, names[i]);
  assert_distinct(names, LEN(names));
}
END_TEST

/* Short texts out of few bytes: the kind that collides. */
static void random_text(char *ret_text, size_t max) {
  static const char bytes[] = "ab--__./ ";
  size_t len = random_u64() % (max + 1);
  for (size_t i = 0; i < len; i++)
    ret_text[i] = bytes[random_u64() % (sizeof(bytes) - 1)];
  ret_text[len] = '\0';
}

struct tuple {
  char text[4][80];
  char name[METRIC_NAME_LEN];
};

static int compare_names(const void *a, const void *b) {
  return strcmp(((const struct tuple *)a)->name,
                ((const struct tuple *)b)->name);
}

/* Label sets of one probe: equal names only for equal texts, of any length. */
START_TEST(random_tuples_stay_apart) {
  enum { N = 10000 };
  size_t arity = 1 + _i % 4;
  size_t max_len = _i < 4 ? 4 : 79;
  struct tuple *tuples = calloc(N, sizeof(*tuples));
  ck_assert_ptr_nonnull(tuples);
  for (size_t i = 0; i < N; i++) {
    const char *labels[4];
    for (size_t j = 0; j < arity; j++) {
      random_text(tuples[i].text[j], max_len);
      labels[j] = tuples[i].text[j];
    }
    instance("p", labels, arity, tuples[i].name);
  }
  qsort(tuples, N, sizeof(*tuples), compare_names);
  for (size_t i = 1; i < N; i++) {
    if (strcmp(tuples[i - 1].name, tuples[i].name) != 0)
      continue;
    for (size_t j = 0; j < arity; j++)
      ck_assert_str_eq(tuples[i - 1].text[j], tuples[i].text[j]);
  }
  free(tuples);
}
END_TEST

/* A name's own text never gives that name again. */
START_TEST(hash_cannot_be_forged) {
  for (int i = 0; i < 1000; i++) {
    char text[80], name[METRIC_NAME_LEN], forged[METRIC_NAME_LEN];
    random_text(text, 20);
    const char *label = text;
    instance("p", &label, 1, name);
    label = name + strlen("p-");
    instance("p", &label, 1, forged);
    if (strcmp(label, text) != 0)
      ck_assert_str_ne(name, forged);
  }
}
END_TEST

START_TEST(longest_probe_keeps_its_name) {
  static const char text[] = "0123456789012345678901234567890123456789012345";
  const char *const labels[] = {text, text, text, text};
  char name[METRIC_NAME_LEN];
  instance("a23456789_12345", labels, 4, name);
  ck_assert_uint_eq(strlen(name), 63);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("instance");
  TCase *tcase = tcase_create("instance");
  tcase_set_timeout(tcase, 60);
  tcase_add_loop_test(tcase, plain_name, 0, LEN(plain_names));
  tcase_add_loop_test(tcase, hashed_name, 0, LEN(hashed_names));
  tcase_add_test(tcase, name_of_the_rest);
  tcase_add_test(tcase, comms_stay_apart);
  tcase_add_loop_test(tcase, random_tuples_stay_apart, 0, 8);
  tcase_add_test(tcase, hash_cannot_be_forged);
  tcase_add_test(tcase, longest_probe_keeps_its_name);
  suite_add_tcase(suite, tcase);
  return suite;
}
