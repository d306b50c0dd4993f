/* SPDX-License-Identifier: MIT */
/*
 * Label values <-> text: system calls, devices, enumerations. Knows how the
 * kernel numbers things; what a series' name may hold is metric.c's business.
 */
#include "label.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A 32-bit program's getpid is another call, with another number. */
#define COMPAT_PREFIX "compat_"

/* A device is major << 20 | minor. */
#define MINOR_BITS 20
#define MINOR_MASK ((1u << MINOR_BITS) - 1)

/* The included lists are generated from the headers of the build machine. */
static const struct {
  uint32_t number;
  const char *name;
} syscalls[] = {
#define X(number, name) {number, name},
#include "syscall_names.h"
#undef X
#define X(number, name) {number | LATENCY_SYSCALL_COMPAT, COMPAT_PREFIX name},
#include "syscall_names_compat.h"
#undef X
    {0, NULL}};

const char *label__syscall(uint32_t number) {
  for (size_t i = 0; syscalls[i].name != NULL; i++)
    if (syscalls[i].number == number)
      return syscalls[i].name;
  return NULL;
}

static int find_syscall(const char *text, uint32_t *ret_value) {
  for (size_t i = 0; syscalls[i].name != NULL; i++)
    if (strcmp(syscalls[i].name, text) == 0) {
      *ret_value = syscalls[i].number;
      return 0;
    }
  return -ENOENT;
}

/* The words of a list that is separated by single spaces. */
static const char *next_word(const char *word) {
  word += strcspn(word, " ");
  return *word == ' ' ? word + 1 : NULL;
}

static bool is_word(const char *word, const char *text) {
  size_t len = strlen(text);
  return len > 0 && strcspn(word, " ") == len && memcmp(word, text, len) == 0;
}

static int find_enum(const char *word, const char *text, uint32_t *ret_value) {
  for (uint32_t i = 0; word != NULL; i++, word = next_word(word))
    if (is_word(word, text)) {
      *ret_value = i;
      return 0;
    }
  return -ENOENT;
}

static void unnamed_text(const struct latency_label *label, uint32_t value,
                         char *ret_text, size_t size) {
  bool compat = label->decoder == LATENCY_DECODE_SYSCALL &&
                value < 2 * LATENCY_SYSCALL_COMPAT &&
                value & LATENCY_SYSCALL_COMPAT;
  if (compat)
    value &= ~(uint32_t)LATENCY_SYSCALL_COMPAT;
  snprintf(ret_text, size, "%s%s_%u", compat ? COMPAT_PREFIX : "", label->name,
           value);
}

static void enum_text(const struct latency_label *label, uint32_t value,
                      char *ret_text, size_t size) {
  const char *word = label->values;
  for (uint32_t i = 0; word != NULL && i < value; i++)
    word = next_word(word);
  if (word == NULL || *word == '\0')
    unnamed_text(label, value, ret_text, size);
  else
    snprintf(ret_text, size, "%.*s", (int)strcspn(word, " "), word);
}

/* The kernel's own name for a disk, in which it writes '!' for a '/'. */
static void device_text(uint32_t device, const char *sys_dir, char *ret_text,
                        size_t size) {
  char number[2 * sizeof("4294967295")];
  snprintf(number, sizeof(number), "%u:%u", device >> MINOR_BITS,
           device & MINOR_MASK);

  char path[PATH_MAX];
  char target[PATH_MAX];
  ssize_t len = -1;
  if ((size_t)snprintf(path, sizeof(path), "%s/dev/block/%s", sys_dir, number) <
      sizeof(path))
    len = readlink(path, target, sizeof(target) - 1);
  target[len < 0 ? 0 : len] = '\0';

  const char *slash = strrchr(target, '/');
  const char *name = slash != NULL ? slash + 1 : target;
  snprintf(ret_text, size, "%s", *name != '\0' ? name : number);
}

/* The names of the handlers on an interrupt line, separated by commas. */
static bool irq_text(uint32_t irq, const char *sys_dir, char *ret_text,
                     size_t size) {
  char path[PATH_MAX];
  if ((size_t)snprintf(path, sizeof(path), "%s/kernel/irq/%u/actions", sys_dir,
                       irq) >= sizeof(path))
    return false;
  FILE *file = fopen(path, "re");
  if (file == NULL)
    return false;
  if (fgets(ret_text, (int)size, file) == NULL)
    ret_text[0] = '\0';
  (void)fclose(file);
  ret_text[strcspn(ret_text, "\n")] = '\0';
  return ret_text[0] != '\0';
}

/* The upper bound of a class, as of a bucket. */
static bool power_text(uint32_t value, char *ret_text, size_t size) {
  if (value > LATENCY_POWER_ABOVE)
    return false;
  if (value == LATENCY_POWER_ABOVE)
    snprintf(ret_text, size, "inf");
  else
    snprintf(ret_text, size, "%llu", value == 0 ? 0 : 1ull << (value - 1));
  return true;
}

void label__text(const struct latency_label *label, uint32_t value,
                 const char *sys_dir, char *ret_text, size_t size) {
  const char *name = NULL;
  switch (label->decoder) {
  case LATENCY_DECODE_NUMBER:
    snprintf(ret_text, size, "%u", value);
    return;
  case LATENCY_DECODE_ENUM:
    enum_text(label, value, ret_text, size);
    return;
  case LATENCY_DECODE_DEVICE:
    device_text(value, sys_dir, ret_text, size);
    return;
  case LATENCY_DECODE_IRQ:
    if (!irq_text(value, sys_dir, ret_text, size))
      break;
    return;
  case LATENCY_DECODE_SYSCALL:
    name = label__syscall(value);
    break;
  case LATENCY_DECODE_POWER:
    if (!power_text(value, ret_text, size))
      break;
    return;
  }
  if (name != NULL)
    snprintf(ret_text, size, "%s", name);
  else
    unnamed_text(label, value, ret_text, size);
}

/* Digits only, none to spare: "7" is the text of 7, "07" and "+7" are not. */
static int find_number(const char *text, uint32_t *ret_value) {
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || text[digits] != '\0' || (*text == '0' && digits > 1))
    return -ENOENT;
  errno = 0;
  unsigned long long value = strtoull(text, NULL, 10);
  if (errno != 0 || value > UINT32_MAX)
    return -ENOENT;
  *ret_value = (uint32_t)value;
  return 0;
}

/* A call that is newer than our headers: what unnamed_text() makes of it. */
static int find_unnamed_syscall(const struct latency_label *label,
                                const char *text, uint32_t *ret_value) {
  uint32_t compat = 0;
  const char *rest = text;
  if (strncmp(rest, COMPAT_PREFIX, strlen(COMPAT_PREFIX)) == 0) {
    compat = LATENCY_SYSCALL_COMPAT;
    rest += strlen(COMPAT_PREFIX);
  }
  size_t name_len = strlen(label->name);
  if (strncmp(rest, label->name, name_len) != 0 || rest[name_len] != '_')
    return -ENOENT;

  uint32_t number;
  if (find_number(rest + name_len + 1, &number) != 0 ||
      number >= LATENCY_SYSCALL_COMPAT ||
      label__syscall(number | compat) != NULL)
    return -ENOENT;
  *ret_value = number | compat;
  return 0;
}

int label__value(const struct latency_label *label, const char *text,
                 uint32_t *ret_value) {
  switch (label->decoder) {
  case LATENCY_DECODE_NUMBER:
    return find_number(text, ret_value);
  case LATENCY_DECODE_ENUM:
    return find_enum(label->values, text, ret_value);
  case LATENCY_DECODE_SYSCALL:
    if (find_syscall(text, ret_value) == 0)
      return 0;
    return find_unnamed_syscall(label, text, ret_value);
  default:
    return -ENOTSUP;
  }
}
