/* SPDX-License-Identifier: MIT */
/* What a field of a series' name may be. */
#ifndef TEST_FIELD_H
#define TEST_FIELD_H

#include <check.h>
#include <string.h>

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define PLAIN LETTERS "0123456789_-"

/* What fits any output, and is cut by none. */
static inline void assert_field(const char *text, const char *allowed) {
  size_t len = strlen(text);
  if (len == 0 || len > 63 || strspn(text, allowed) != len)
    ck_abort_msg("not a good field: \"%s\"", text);
}

#endif
