/* SPDX-License-Identifier: MIT */
/* Names of functions: C++ names as they are written, and which names are
 * near another. Knows no files. */
#include "symbol_name.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_LEN 128

/* <source-name>: a number and as many bytes. NULL: it is something else. */
static const char *take_name(const char *at, char *name, size_t size,
                             size_t *len) {
  char *end;
  if (!isdigit((unsigned char)*at) || *at == '0')
    return NULL;
  const unsigned long count = strtoul(at, &end, 10);
  if (count > strnlen(end, count))
    return NULL;
  const char *scope = *len > 0 ? "::" : "";
  if (*len + strlen(scope) + count >= size)
    return NULL;
  *len += (size_t)snprintf(name + *len, size - *len, "%s%.*s", scope,
                           (int)count, end);
  return end + count;
}

bool symbol_name__scoped(const char *mangled, char *ret_name, size_t size) {
  char name[512];
  size_t len = 0;
  if (strncmp(mangled, "_Z", 2) != 0)
    return false;
  const char *at = mangled + 2;
  const bool nested = *at == 'N';
  at += nested || *at == 'L'; /* of one file only */
  if (nested)
    at += strspn(at, "VK"); /* volatile and const members */
  do
    at = take_name(at, name, sizeof(name), &len);
  while (at != NULL && nested && *at != 'E');
  /* Arguments follow, at least "v"; 'I' would begin those of a template. */
  if (at == NULL || at[nested] == '\0' || at[nested] == 'I' || len >= size)
    return false;
  memcpy(ret_name, name, len + 1);
  return true;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Insertions, deletions and replacements of a byte, upper case or lower. */
static size_t distance(const char *a, const char *b) {
  const size_t len = strlen(b);
  size_t row[NAME_LEN];
  if (len >= NAME_LEN)
    return SIZE_MAX;
  for (size_t j = 0; j <= len; j++)
    row[j] = j;
  for (size_t i = 0; a[i] != '\0'; i++) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < len; j++) {
      const bool same =
          tolower((unsigned char)a[i]) == tolower((unsigned char)b[j]);
      const size_t replaced = diagonal + !same;
      diagonal = row[j + 1];
      row[j + 1] = least(replaced, least(row[j], diagonal) + 1);
    }
  }
  return row[len];
}

/* By slips of the pen first, then what contains the name: a mangled one does,
 * or "send" in "queue_send". SIZE_MAX: it is not near. */
static size_t how_far(const char *wanted, const char *name) {
  const size_t len = strlen(wanted);
  const size_t slips = distance(wanted, name);
  if (slips <= (len + 3) / 4)
    return slips;
  if (len >= 3 && strcasestr(name, wanted) != NULL)
    return len + strlen(name);
  return SIZE_MAX;
}

void symbol_name__consider(struct symbol_near *near, const char *name) {
  char scoped[512];
  size_t far = how_far(near->wanted, name);
  if (symbol_name__scoped(name, scoped, sizeof(scoped)))
    far = least(far, how_far(near->wanted, scoped));
  if (far == SIZE_MAX)
    return;
  size_t at = near->num;
  for (size_t i = 0; i < near->num; i++)
    if (strcmp(near->names[i], name) == 0)
      return;
  while (at > 0 && near->distances[at - 1] > far)
    at--;
  if (at == SYMBOL_NEAR_MAX)
    return;
  if (near->num < SYMBOL_NEAR_MAX)
    near->num++;
  for (size_t i = near->num - 1; i > at; i--) {
    near->names[i] = near->names[i - 1];
    near->distances[i] = near->distances[i - 1];
  }
  near->names[at] = name;
  near->distances[at] = far;
}
