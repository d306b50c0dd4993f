/* SPDX-License-Identifier: MIT */
/*
 * Which files description__read() takes: whose they are, who may write to
 * them, what they are called. They are copies in a directory of the test's own.
 */
#include "description.h"

#include "object.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

#define ERROR_LEN 512

/* A directory with object files in it that tests spoil. */
static char dir[64];

static char *object;
static size_t object_size;

static const char *path_of(const char *name) {
  static char path[PATH_MAX];
  snprintf(path, sizeof(path), "%s/%s", dir, name);
  return path;
}

static void write_object(const char *name, mode_t mode, size_t size) {
  int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(write(fd, object, size), (ssize_t)size);
  ck_assert_int_eq(fchmod(fd, mode), 0);
  close(fd);
}

static void setup(void) {
  object = read_object(GOOD_PATH, &object_size);
  snprintf(dir, sizeof(dir), "/tmp/test_description.XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void) {
  glob_t files;
  if (glob(path_of("*"), 0, NULL, &files) == 0) {
    for (size_t i = 0; i < files.gl_pathc; i++)
      remove(files.gl_pathv[i]);
    globfree(&files);
  }
  rmdir(dir);
  free(object);
}

/* Whatever the error, it names the file. */
static void assert_read(const char *name, int ret, const char *message) {
  struct latency_description desc;
  char err[ERROR_LEN] = "";
  const char *path = path_of(name);
  int got = description__read(path, &desc, NULL, err, sizeof(err));
  if (got != ret || strstr(err, message) == NULL)
    ck_abort_msg("%d, not %d \"%s\": %s", got, ret, message, err);
  if (ret != 0)
    ck_assert_int_eq(strncmp(err, path, strlen(path)), 0);
  else
    ck_assert_str_eq(desc.name, GOOD_PROBE);
}

static const struct {
  const char *name;
  mode_t mode;
  int ret;
  const char *message;
} modes[] = {
    {"runqlat.bpf.o", 0644, 0, ""},
    {"runqlat.bpf.o", 0600, 0, ""},
    {"runqlat.bpf.o", 0444, 0, ""},
    {"runqlat.bpf.o", 0664, -EPERM, "mode 0664"},
    {"runqlat.bpf.o", 0646, -EPERM, "mode 0646"},
    {"runqlat.bpf.o", 0622, -EPERM, "may write to it"},
    {"runqlat.o", 0644, -ENOEXEC, "must be runqlat.bpf.o"},
    {"runqla.bpf.o", 0644, -ENOEXEC, "must be runqlat.bpf.o"},
    {"runqlat2.bpf.o", 0644, -ENOEXEC, "must be runqlat.bpf.o"},
    {"iolat.bpf.o", 0644, -ENOEXEC, "\"runqlat\""},
    {"iolat.bpf.o", 0666, -EPERM, "mode 0666"},
};

START_TEST(file_modes_and_names) {
  write_object(modes[_i].name, modes[_i].mode, object_size);
  assert_read(modes[_i].name, modes[_i].ret, modes[_i].message);
}
END_TEST

START_TEST(file_of_another_user) {
  if (geteuid() != 0)
    return; /* only root can give a file away */
  write_object("runqlat.bpf.o", 0644, object_size);
  ck_assert_int_eq(chown(path_of("runqlat.bpf.o"), 12345, 0), 0);
  assert_read("runqlat.bpf.o", -EPERM, "belongs to user 12345");
}
END_TEST

START_TEST(file_that_cannot_be_read) {
  if (geteuid() == 0)
    return; /* root can */
  write_object("runqlat.bpf.o", 0, object_size);
  assert_read("runqlat.bpf.o", -EACCES, "Permission denied");
}
END_TEST

START_TEST(no_regular_file) {
  assert_read("missing.bpf.o", -ENOENT, "No such file");
  ck_assert_int_eq(mkdir(path_of("dir.bpf.o"), 0755), 0);
  assert_read("dir.bpf.o", -EPERM, "not a regular file");
  ck_assert_int_eq(mkfifo(path_of("fifo.bpf.o"), 0600), 0);
  assert_read("fifo.bpf.o", -EPERM, "not a regular file");
  ck_assert_int_eq(symlink("missing.bpf.o", path_of("dangling.bpf.o")), 0);
  assert_read("dangling.bpf.o", -ENOENT, "No such file");

  /* A link is as good as its target. */
  write_object("real", 0644, object_size);
  ck_assert_int_eq(symlink("real", path_of("runqlat.bpf.o")), 0);
  assert_read("runqlat.bpf.o", 0, "");
  ck_assert_int_eq(chmod(path_of("real"), 0666), 0);
  assert_read("runqlat.bpf.o", -EPERM, "mode 0666");
}
END_TEST

START_TEST(file_sizes) {
  write_object("runqlat.bpf.o", 0644, 0);
  assert_read("runqlat.bpf.o", -ENOEXEC, "empty");
  write_object("runqlat.bpf.o", 0644, object_size / 2);
  assert_read("runqlat.bpf.o", -ENOEXEC, "section");
  write_object("runqlat.bpf.o", 0644, object_size);
  ck_assert_int_eq(truncate(path_of("runqlat.bpf.o"), (16 << 20) + 1), 0);
  assert_read("runqlat.bpf.o", -ENOEXEC, "16777216");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("description_file");
  TCase *tcase = tcase_create("description_file");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_loop_test(tcase, file_modes_and_names, 0, LEN(modes));
  tcase_add_test(tcase, file_of_another_user);
  tcase_add_test(tcase, file_that_cannot_be_read);
  tcase_add_test(tcase, no_regular_file);
  tcase_add_test(tcase, file_sizes);
  suite_add_tcase(suite, tcase);
  return suite;
}
