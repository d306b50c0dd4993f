/* SPDX-License-Identifier: MIT */
/*
 * Label values <-> text. Devices are looked up in a directory of links like
 * /sys/dev/block that the test makes.
 */
#include "label.h"

#include <asm/unistd.h>
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

#define COMPAT LATENCY_SYSCALL_COMPAT
#define DEVICE(major, minor) ((uint32_t)(major) << 20 | (minor))

static const struct latency_label number = {.name = "vector",
                                            .decoder = LATENCY_DECODE_NUMBER};
static const struct latency_label op = {
    .name = "op", .decoder = LATENCY_DECODE_ENUM, .values = "read write flush"};
static const struct latency_label device = {.name = "device",
                                            .decoder = LATENCY_DECODE_DEVICE};
static const struct latency_label call = {.name = "syscall",
                                          .decoder = LATENCY_DECODE_SYSCALL};
static const struct latency_label size = {.name = "size",
                                          .decoder = LATENCY_DECODE_POWER};
static const struct latency_label function = {
    .name = "function", .decoder = LATENCY_DECODE_FUNCTION};
static const struct latency_label newer = {.name = "newer", .decoder = 99};

static const struct latency_label irq = {.name = "irq",
                                         .decoder = LATENCY_DECODE_IRQ};

static char sys_dir[] = "/tmp/test_label.XXXXXX";

static const char *const directories[] = {
    "dev",           "dev/block",     "kernel",       "kernel/irq",
    "kernel/irq/24", "kernel/irq/25", "kernel/irq/26"};

static const struct {
  const char *name;
  const char *text;
} files[] = {
    {"kernel/irq/24/actions", "virtio1-req.0\n"},
    {"kernel/irq/25/actions", "PCIe PME,aerdrv\n"},
    {"kernel/irq/26/actions", "\n"},
};

static const struct {
  const char *name;
  const char *target;
} links[] = {
    {"dev/block/7:0", "../../devices/virtual/block/loop0"},
    {"dev/block/254:0",
     "../../devices/pci0000:00/0000:00:02.0/virtio1/block/vda"},
    {"dev/block/254:1",
     "../../devices/pci0000:00/0000:00:02.0/virtio1/block/vda/vda1"},
    {"dev/block/104:0", "../../devices/pci0000:00/host0/block/cciss!c0d0"},
    {"dev/block/259:1048575", "../../devices/virtual/block/last"},
    {"dev/block/1:1", "plain"},
    {"dev/block/1:2", "trailing/"},
};

static const char *in_sys(const char *name) {
  static char path[128];
  snprintf(path, sizeof(path), "%s/%s", sys_dir, name);
  return path;
}

static void setup(void) {
  ck_assert_ptr_nonnull(mkdtemp(sys_dir));
  for (size_t i = 0; i < LEN(directories); i++)
    ck_assert_int_eq(mkdir(in_sys(directories[i]), 0755), 0);
  for (size_t i = 0; i < LEN(files); i++) {
    FILE *file = fopen(in_sys(files[i].name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(files[i].text, file);
    ck_assert_int_eq(fclose(file), 0);
  }
  for (size_t i = 0; i < LEN(links); i++)
    ck_assert_int_eq(symlink(links[i].target, in_sys(links[i].name)), 0);
}

static void teardown(void) {
  for (size_t i = 0; i < LEN(links); i++)
    unlink(in_sys(links[i].name));
  for (size_t i = 0; i < LEN(files); i++)
    unlink(in_sys(files[i].name));
  for (size_t i = LEN(directories); i-- > 0;)
    rmdir(in_sys(directories[i]));
  rmdir(sys_dir);
}

static const struct {
  const struct latency_label *label;
  uint32_t value;
  const char *text;
} texts[] = {
    {&number, 0, "0"},
    {&number, UINT32_MAX, "4294967295"},
    {&op, 0, "read"},
    {&op, 1, "write"},
    {&op, 2, "flush"},
    {&op, 3, "op_3"},
    {&op, UINT32_MAX, "op_4294967295"},
    {&device, DEVICE(7, 0), "loop0"},
    {&device, DEVICE(254, 0), "vda"},
    {&device, DEVICE(254, 1), "vda1"},
    {&device, DEVICE(104, 0), "cciss!c0d0"},
    {&device, DEVICE(259, 1048575), "last"},
    {&device, DEVICE(1, 1), "plain"},
    {&device, DEVICE(1, 2), "1:2"},
    {&device, DEVICE(8, 16), "8:16"},
    {&device, 0, "0:0"},
    {&device, UINT32_MAX, "4095:1048575"},
    {&call, __NR_getppid, "getppid"},
    {&call, __NR_futex, "futex"},
    {&call, 511, "syscall_511"},
    {&call, COMPAT | 511, "compat_syscall_511"},
    {&call, 2 * COMPAT, "syscall_1024"},
    {&call, UINT32_MAX, "syscall_4294967295"},
#ifdef __x86_64__
    {&call, COMPAT | 20, "compat_getpid"},
    {&call, COMPAT | 1, "compat_exit"},
    {&call, 1, "write"},
#endif
    {&irq, 24, "virtio1-req.0"},
    {&irq, 25, "PCIe PME,aerdrv"},
    {&irq, 26, "irq_26"},
    {&irq, 27, "irq_27"},
    {&size, 0, "0"},
    {&size, 1, "1"},
    {&size, 2, "2"},
    {&size, 7, "64"},
    {&size, 41, "1099511627776"},
    {&size, LATENCY_POWER_ABOVE, "inf"},
    {&size, LATENCY_POWER_CLASSES, "size_43"},
    {&size, UINT32_MAX, "size_4294967295"},
    {&function, 3, "function_3"},
    {&newer, 5, "newer_5"},
};

START_TEST(text_of_value) {
  char text[LABEL_TEXT_LEN];
  label__text(texts[_i].label, texts[_i].value, sys_dir, text, sizeof(text));
  ck_assert_str_eq(text, texts[_i].text);
}
END_TEST

START_TEST(text_without_sys) {
  static const char *const dirs[] = {"/nonexistent", "", "/dev/null"};
  char text[LABEL_TEXT_LEN];
  for (size_t i = 0; i < LEN(dirs); i++) {
    label__text(&device, DEVICE(7, 0), dirs[i], text, sizeof(text));
    ck_assert_str_eq(text, "7:0");
  }
  char *dir = calloc(1, 8192);
  ck_assert_ptr_nonnull(dir);
  memset(dir, '/', 8191);
  label__text(&device, DEVICE(7, 0), dir, text, sizeof(text));
  ck_assert_str_eq(text, "7:0");
  free(dir);
}
END_TEST

START_TEST(text_is_cut_to_size) {
  char text[4];
  label__text(&op, 1, sys_dir, text, sizeof(text));
  ck_assert_str_eq(text, "wri");
  label__text(&device, DEVICE(7, 0), sys_dir, text, sizeof(text));
  ck_assert_str_eq(text, "loo");
}
END_TEST

/* What a filter may name: the value, or the error. */
static const struct {
  const struct latency_label *label;
  const char *text;
  int ret;
  uint32_t value;
} values[] = {
    {&number, "0", 0, 0},
    {&number, "42", 0, 42},
    {&number, "4294967295", 0, UINT32_MAX},
    {&number, "4294967296", -ENOENT, 0},
    {&number, "99999999999999999999999", -ENOENT, 0},
    {&number, "", -ENOENT, 0},
    {&number, "-1", -ENOENT, 0},
    {&number, "+1", -ENOENT, 0},
    {&number, " 1", -ENOENT, 0},
    {&number, "1 ", -ENOENT, 0},
    {&number, "01", -ENOENT, 0},
    {&number, "0x1", -ENOENT, 0},
    {&op, "read", 0, 0},
    {&op, "flush", 0, 2},
    {&op, "Read", -ENOENT, 0},
    {&op, "rea", -ENOENT, 0},
    {&op, "reads", -ENOENT, 0},
    {&op, "read write", -ENOENT, 0},
    {&op, "", -ENOENT, 0},
    {&op, " ", -ENOENT, 0},
    {&device, "vda", -ENOTSUP, 0},
    {&call, "getppid", 0, __NR_getppid},
    {&call, "syscall_511", 0, 511},
    {&call, "compat_syscall_511", 0, COMPAT | 511},
    {&call, "syscall_512", -ENOENT, 0},
    {&call, "syscall_1000", -ENOENT, 0}, /* would be another's number */
    {&call, "compat_syscall_1000", -ENOENT, 0},
    {&call, "syscall_", -ENOENT, 0},
    {&call, "syscall_1", -ENOENT, 0}, /* has a name on every machine */
    {&call, "511", -ENOENT, 0},
    {&call, "sycall", -ENOENT, 0},
    {&call, "compat_", -ENOENT, 0},
    {&call, "", -ENOENT, 0},
#ifdef __x86_64__
    {&call, "compat_getpid", 0, COMPAT | 20},
    {&call, "compat_waitpid", 0, COMPAT | 7},
    {&call, "waitpid", -ENOENT, 0},
#endif
    {&newer, "5", -ENOTSUP, 0},
};

START_TEST(value_of_text) {
  uint32_t value = 77;
  int ret = label__value(values[_i].label, values[_i].text, &value);
  ck_assert_int_eq(ret, values[_i].ret);
  ck_assert_uint_eq(value, ret == 0 ? values[_i].value : 77);
}
END_TEST

/* Every number that a filter can hold, there and back; all texts differ. */
START_TEST(syscalls_round_trip) {
  static char text[LATENCY_FILTER_RANGE][LABEL_TEXT_LEN];
  size_t named = 0;
  for (uint32_t i = 0; i < LATENCY_FILTER_RANGE; i++) {
    label__text(&call, i, sys_dir, text[i], sizeof(text[i]));
    uint32_t value = UINT32_MAX;
    ck_assert_int_eq(label__value(&call, text[i], &value), 0);
    ck_assert_uint_eq(value, i);
    named += label__syscall(i) != NULL;
  }
  ck_assert_uint_gt(named, 250);
  ck_assert_str_eq(label__syscall(__NR_read), "read");
  ck_assert_ptr_null(label__syscall(511));
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("label");
  TCase *tcase = tcase_create("label");
  tcase_add_unchecked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, text_of_value, 0, LEN(texts));
  tcase_add_test(tcase, text_without_sys);
  tcase_add_test(tcase, text_is_cut_to_size);
  tcase_add_loop_test(tcase, value_of_text, 0, LEN(values));
  tcase_add_test(tcase, syscalls_round_trip);
  suite_add_tcase(suite, tcase);
  return suite;
}
