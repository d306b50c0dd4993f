/* SPDX-License-Identifier: MIT */
/* A probe's object file that the build made, in memory. */
#ifndef TEST_OBJECT_H
#define TEST_OBJECT_H

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GOOD_PROBE "runqlat"
#define GOOD_PATH TEST_PROBE_DIR "/" GOOD_PROBE ".bpf.o"

/* The caller's to free. */
static inline char *read_object(const char *path, size_t *ret_size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL)
    ck_abort_msg("%s: %s", path, strerror(errno));
  ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
  long size = ftell(file);
  ck_assert_int_gt(size, 0);
  rewind(file);
  char *bytes = malloc((size_t)size);
  ck_assert_ptr_nonnull(bytes);
  ck_assert_uint_eq(fread(bytes, 1, (size_t)size, file), (size_t)size);
  fclose(file);
  *ret_size = (size_t)size;
  return bytes;
}

#endif
