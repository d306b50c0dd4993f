/* SPDX-License-Identifier: MIT */
/*
 * Descriptions of the probes that were built, and what becomes of objects that
 * are wrong, cut short or hostile: all are made in memory from a good one.
 */
#include "description.h"

#include "object.h"

#include <check.h>
#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

#define ERROR_LEN 512

/* A good object, and where its description is. Each test has its own copy. */
static struct {
  char *bytes;
  size_t size;
  size_t at;
} good;

/* Something of everything; tests break one thing at a time. */
static const struct latency_description sample = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_BYTES,
    .has_task = 1,
    .name = GOOD_PROBE,
    .help = "A sample",
    .labels = {{.name = "device", .decoder = LATENCY_DECODE_DEVICE},
               {.name = "op",
                .option = "Op",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "read write",
                .optional = 1},
               {.name = "phase",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "queue device total",
                .inner = 3}},
    .rungs = {{.name = "tp_btf+perf_event", .programs = "start end_min"},
              {.name = "raw_tp", .programs = "start_raw"}},
    .perf_events = {{"end_min", 1, 5}},
};

/* Parses; an error must be a sentence of one line that begins with the path,
 * and leave what it could have given out as it was. */
static int parse(const void *bytes, size_t size,
                 struct latency_description *ret_desc, char err[ERROR_LEN]) {
  struct latency_description untouched;
  memset(&untouched, 0x5a, sizeof(untouched));
  *ret_desc = untouched;
  err[0] = '\0';
  int ret = description__parse("PATH", bytes, size, ret_desc, err, ERROR_LEN);
  if (ret == 0)
    return 0;
  if (ret != -ENOEXEC || memcmp(ret_desc, &untouched, sizeof(untouched)) != 0)
    ck_abort_msg("returned %d, or wrote a description: %s", ret, err);
  if (strncmp(err, "PATH: ", 6) != 0 || strlen(err) < 12 ||
      strchr(err, '\n') != NULL)
    ck_abort_msg("not a sentence: \"%s\"", err);
  return ret;
}

static void setup(void) {
  struct latency_description desc;
  char err[ERROR_LEN];
  good.bytes = read_object(GOOD_PATH, &good.size);
  if (parse(good.bytes, good.size, &desc, err) != 0)
    ck_abort_msg("%s", err);
  char *at = memmem(good.bytes, good.size, &desc, sizeof(desc));
  ck_assert_ptr_nonnull(at);
  good.at = (size_t)(at - good.bytes);
}

static void teardown(void) { free(good.bytes); }

static void assert_refused(const char *message) {
  struct latency_description desc;
  char err[ERROR_LEN];
  ck_assert_int_eq(parse(good.bytes, good.size, &desc, err), -ENOEXEC);
  if (strstr(err, message) == NULL)
    ck_abort_msg("\"%s\" does not say \"%s\"", err, message);
}

START_TEST(built_probes_are_good) {
  glob_t files;
  ck_assert_int_eq(glob(TEST_PROBE_DIR "/*.bpf.o", 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc; i++) {
    struct latency_description desc;
    char err[ERROR_LEN] = "";
    if (description__read(files.gl_pathv[i], &desc, NULL, err, sizeof(err)) !=
        0)
      ck_abort_msg("%s", err);
    ck_assert_str_ne(desc.help, "");
  }
  globfree(&files);
}
END_TEST

START_TEST(sample_is_good) {
  struct latency_description desc;
  char err[ERROR_LEN];
  memcpy(good.bytes + good.at, &sample, sizeof(sample));
  if (parse(good.bytes, good.size, &desc, err) != 0)
    ck_abort_msg("%s", err);
  ck_assert_mem_eq(&desc, &sample, sizeof(sample));
}
END_TEST

#define FIELD(field) offsetof(struct latency_description, field)
#define TEXT(field, text) FIELD(field), text, sizeof(text)
#define NUMBER(field, n) FIELD(field), &(const __u32){n}, sizeof(__u32)
#define NO_END(field)                                                          \
  FIELD(field), full, sizeof(((struct latency_description *)NULL)->field)

static const char zeros[sizeof(sample)];
static char full[sizeof(sample.warning)]; /* of 'a', the longest */

/* One change to the sample each, and what the error must say of it. */
static const struct {
  size_t at;
  const void *bytes;
  size_t size;
  const char *message;
} broken[] = {
    {NUMBER(abi_version, LATENCY_ABI_VERSION + 1), "version 2"},
    {NUMBER(abi_version, 0), "version 0"},
    {NUMBER(unit, 2), "unit"},
    {NUMBER(unit, UINT32_MAX), "unit"},
    {NUMBER(has_task, 2), "has_task"},
    {NUMBER(target, LATENCY_TARGETS), "target"},
    {NUMBER(target, LATENCY_TARGET_LIBC_FUNCTION), "symbol is \"\""},
    {TEXT(symbol, "malloc"), "symbol is \"malloc\""},
    {NO_END(warning), "does not end"},
    {NO_END(symbol), "does not end"},
    {TEXT(name, ""), "name"},
    {TEXT(name, "Runqlat"), "name"},
    {TEXT(name, "a-b"), "name"},
    {TEXT(name, "../x"), "name"},
    {TEXT(name, "a\nb"), "name"},
    {NO_END(name), "does not end"},
    {NO_END(help), "does not end"},
    {NO_END(labels[0].name), "does not end"},
    {NO_END(labels[3].option), "does not end"},
    {NO_END(labels[1].values), "does not end"},
    {NO_END(rungs[0].name), "does not end"},
    {NO_END(rungs[5].programs), "does not end"},
    {NO_END(rungs[5].maps), "does not end"},
    {NO_END(perf_events[3].program), "does not end"},
    {TEXT(labels[0].name, "De"), "name of label 0"},
    {TEXT(labels[0].name, ""), "label 0 has no name"},
    {TEXT(labels[1].name, ""), "label 1 has no name"},
    {TEXT(labels[1].name, "device"), "two labels are called \"device\""},
    {TEXT(labels[2].name, "comm"), "two labels are called \"comm\""},
    {NUMBER(labels[3].inner, 1), "label 3 has no name"},
    {NUMBER(labels[0].decoder, LATENCY_DECODERS),
     "decoder of label \"device\""},
    {NUMBER(labels[0].optional, 2), "optional of label \"device\""},
    {NUMBER(labels[0].inner, 65), "more than 64"},
    {NUMBER(labels[0].inner, UINT32_MAX), "more than 64"},
    {NUMBER(labels[0].inner, 2), "more than one label has several values"},
    {NUMBER(labels[1].inner, 3), "3 values for each event and 2 words"},
    {NUMBER(labels[2].inner, 2), "2 values for each event and 3 words"},
    {TEXT(labels[0].option, "Device"), "more than one label has a filter"},
    {TEXT(labels[1].values, ""), "word 0 of label \"op\" is empty"},
    {TEXT(labels[1].values, " read"), "word 0 of label \"op\" is empty"},
    {TEXT(labels[1].values, "read "), "word 1 of label \"op\" is empty"},
    {TEXT(labels[1].values, "read  write"), "word 1 of label \"op\" is empty"},
    {TEXT(labels[1].values, "read rea read"), "the word \"read\" twice"},
    {TEXT(rungs[0].name, ""), "rung 0 has no name"},
    {TEXT(rungs[0].programs, ""), "rung 0 has a program with no name"},
    {TEXT(rungs[0].programs, " start"), "rung 0 has a program with no name"},
    {TEXT(rungs[0].programs, "start "), "rung 0 has a program with no name"},
    {TEXT(rungs[1].programs, "a  b"), "rung 1 has a program with no name"},
    {TEXT(rungs[1].name, ""), "rung 1 has no name"},
    {FIELD(rungs), zeros, sizeof(sample.rungs), "no rung"},
    {TEXT(perf_events[0].program, "end"), "perf event 0 is on no rung"},
    {TEXT(perf_events[3].program, "nobody"), "perf event 3 is on no rung"},
    {0, zeros, sizeof(sample), "version 0"},
};

START_TEST(broken_description) {
  memset(full, 'a', sizeof(full));
  memcpy(good.bytes + good.at, &sample, sizeof(sample));
  memcpy(good.bytes + good.at + broken[_i].at, broken[_i].bytes,
         broken[_i].size);
  assert_refused(broken[_i].message);
}
END_TEST

static Elf64_Ehdr *elf_header(void) { return (Elf64_Ehdr *)good.bytes; }

static Elf64_Shdr *section_header(void) {
  Elf64_Shdr *section = (Elf64_Shdr *)(good.bytes + elf_header()->e_shoff);
  for (size_t i = 0; i < elf_header()->e_shnum; i++)
    if (section[i].sh_offset == good.at)
      return &section[i];
  ck_abort_msg("no section header");
  return NULL;
}

START_TEST(broken_elf) {
  const Elf64_Ehdr header = *elf_header();
  const Elf64_Shdr section = *section_header();
  Elf64_Shdr *const now = section_header();

  elf_header()->e_machine = EM_X86_64;
  assert_refused("built for machine 62");
  *elf_header() = header;
  elf_header()->e_ident[EI_MAG1] = 'e';
  assert_refused("no ELF file");
  *elf_header() = header;
  elf_header()->e_shstrndx = 0x7fff;
  assert_refused("no section");
  *elf_header() = header;
  elf_header()->e_shoff = UINT64_MAX - 7;
  assert_refused("section");
  *elf_header() = header;

  now->sh_size -= 4;
  assert_refused("bytes, not");
  now->sh_size = sizeof(sample) + 1;
  assert_refused("bytes, not");
  now->sh_size = UINT64_MAX - 15;
  assert_refused("not all there");
  *now = section;
  now->sh_type = SHT_NOBITS;
  assert_refused("no section");
  *now = section;
  now->sh_name++;
  assert_refused("no section");
  now->sh_name = UINT32_MAX;
  assert_refused("no section");
  *now = section;
  now->sh_offset = UINT64_MAX - 15;
  assert_refused("not all there");
}
END_TEST

START_TEST(no_elf) {
  static const struct {
    const char *bytes;
    size_t size;
  } files[] = {
      {"", 0},          {"\0", 1},      {"text\n", 5},
      {"!<arch>\n", 8}, {"\177ELF", 4}, {zeros, sizeof(zeros)},
  };
  for (size_t i = 0; i < LEN(files); i++) {
    struct latency_description desc;
    char err[ERROR_LEN];
    char *copy = malloc(files[i].size + (files[i].size == 0));
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, files[i].bytes, files[i].size);
    ck_assert_int_eq(parse(copy, files[i].size, &desc, err), -ENOEXEC);
    free(copy);
  }
}
END_TEST

/* Each in memory of its exact size, so that a sanitizer sees one byte more. */
START_TEST(truncated_at_every_length) {
  for (size_t size = 0; size < good.size; size++) {
    struct latency_description desc;
    char err[ERROR_LEN];
    char *copy = malloc(size > 0 ? size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, good.bytes, size);
    int ret = parse(copy, size, &desc, err);
    if (ret == 0 && size < good.at + sizeof(desc))
      ck_abort_msg("a description out of %zu bytes", size);
    free(copy);
  }
}
END_TEST

/* What is accepted is sound: all that reads it stays inside of it. */
static void use(const struct latency_description *desc) {
  char labels[128];
  description__labels(desc, labels, sizeof(labels));
  if (description__label(desc, "") >= 0 || description__option(desc, "") >= 0)
    ck_abort_msg("found a label with no name");
}

START_TEST(every_byte_flipped) {
  static const unsigned char masks[] = {0x01, 0x80, 0xff};
  for (size_t i = 0; i < good.size; i++)
    for (size_t j = 0; j < LEN(masks); j++) {
      struct latency_description desc;
      char err[ERROR_LEN];
      good.bytes[i] ^= (char)masks[j];
      if (parse(good.bytes, good.size, &desc, err) == 0)
        use(&desc);
      good.bytes[i] ^= (char)masks[j];
    }
}
END_TEST

START_TEST(lookups) {
  char text[64];
  ck_assert_int_eq(description__label(&sample, "device"), 0);
  ck_assert_int_eq(description__label(&sample, "phase"), 2);
  ck_assert_int_eq(description__label(&sample, "Phase"), -ENOENT);
  ck_assert_int_eq(description__label(&sample, "comm"), -ENOENT);
  ck_assert_int_eq(description__label(&sample, ""), -ENOENT);
  ck_assert_int_eq(description__option(&sample, "Op"), 1);
  ck_assert_int_eq(description__option(&sample, "oP"), 1);
  ck_assert_int_eq(description__option(&sample, "op2"), -ENOENT);
  ck_assert_int_eq(description__option(&sample, ""), -ENOENT);

  description__labels(&sample, text, sizeof(text));
  ck_assert_str_eq(text, "device, op, phase, comm");
  description__labels(&sample, text, 11);
  ck_assert_str_eq(text, "device, op");
  struct latency_description other = sample;
  other.has_task = 0;
  description__labels(&other, text, sizeof(text));
  ck_assert_str_eq(text, "device, op, phase");
  memset(other.labels, 0, sizeof(other.labels));
  description__labels(&other, text, sizeof(text));
  ck_assert_str_eq(text, "");
  other.has_task = 1;
  description__labels(&other, text, sizeof(text));
  ck_assert_str_eq(text, "comm");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("description");
  TCase *tcase = tcase_create("description");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_set_timeout(tcase, 120);
  tcase_add_test(tcase, built_probes_are_good);
  tcase_add_test(tcase, sample_is_good);
  tcase_add_loop_test(tcase, broken_description, 0, LEN(broken));
  tcase_add_test(tcase, broken_elf);
  tcase_add_test(tcase, no_elf);
  tcase_add_test(tcase, truncated_at_every_length);
  tcase_add_test(tcase, every_byte_flipped);
  tcase_add_test(tcase, lookups);
  suite_add_tcase(suite, tcase);
  return suite;
}
