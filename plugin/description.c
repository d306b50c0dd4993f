/* SPDX-License-Identifier: MIT */
/*
 * What a probe says of itself: checks it and looks things up in it. Nothing is
 * believed before: all that comes after relies on strings that end, on numbers
 * that are in range and on lists without gaps. Knows no files.
 */
#include "description.h"

#include "description_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Rows of one group on one CPU: more is a mistake, and a lot of memory. */
#define INNER_MAX 64

int description__refuse(char ret_why[DESCRIPTION_WHY_LEN], int code,
                        const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(ret_why, DESCRIPTION_WHY_LEN, format, args);
  va_end(args);
  return -code;
}

#define REFUSE(...) description__refuse(ret_why, ENOEXEC, __VA_ARGS__)

#define ENDS(field) (memchr(field, '\0', sizeof(field)) != NULL)

/* With these, and only with these, the other checks may read strings. */
static int check_strings(const struct latency_description *desc,
                         char *ret_why) {
  bool ends = ENDS(desc->name) && ENDS(desc->help) && ENDS(desc->warning) &&
              ENDS(desc->symbol);
  for (size_t i = 0; i < LATENCY_OWN_LABELS; i++)
    ends &= ENDS(desc->labels[i].name) && ENDS(desc->labels[i].option) &&
            ENDS(desc->labels[i].values);
  for (size_t i = 0; i < LATENCY_RUNGS; i++)
    ends &= ENDS(desc->rungs[i].name) && ENDS(desc->rungs[i].programs) &&
            ENDS(desc->rungs[i].maps);
  for (size_t i = 0; i < LATENCY_PERF_EVENTS; i++)
    ends &= ENDS(desc->perf_events[i].program);
  return ends ? 0 : REFUSE("a string of its description does not end");
}

static bool is_name(const char *name) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  size_t len = strlen(name);
  return len > 0 && strspn(name, allowed) == len;
}

static int check_head(const struct latency_description *desc, char *ret_why) {
  if (desc->abi_version != LATENCY_ABI_VERSION)
    return REFUSE("it is built for version %u of the probe ABI, not %d",
                  desc->abi_version, LATENCY_ABI_VERSION);
  if (!is_name(desc->name))
    return REFUSE("the probe's name is not made of [a-z0-9_]");
  if (desc->unit > LATENCY_UNIT_BYTES)
    return REFUSE("its unit has the unknown number %u", desc->unit);
  if (desc->has_task > 1)
    return REFUSE("has_task is %u, not 0 or 1", desc->has_task);
  if (desc->target >= LATENCY_TARGETS)
    return REFUSE("its target has the unknown number %u", desc->target);
  if ((desc->target == LATENCY_TARGET_LIBC_FUNCTION) != !!desc->symbol[0])
    return REFUSE("its symbol is \"%s\", which does not suit its target %u",
                  desc->symbol, desc->target);
  return 0;
}

static bool has_word(const char *words, const char *word, size_t len) {
  while (*words != '\0') {
    size_t here = strcspn(words, " ");
    if (here == len && memcmp(words, word, len) == 0)
      return true;
    words += here;
    words += strspn(words, " ");
  }
  return false;
}

/* Each word is the text of one number, so none may be missing or doubled. */
static int check_words(const struct latency_label *label, char *ret_why) {
  uint32_t count = 0;
  for (const char *word = label->values;; word++, count++) {
    size_t len = strcspn(word, " ");
    if (len == 0)
      return REFUSE("word %u of label \"%s\" is empty", count, label->name);
    if (has_word(word + len, word, len))
      return REFUSE("label \"%s\" has the word \"%.*s\" twice", label->name,
                    (int)len, word);
    word += len;
    if (*word == '\0')
      break;
  }
  count++;
  if (label->inner > 0 && label->inner != count)
    return REFUSE("label \"%s\" has %u values for each event and %u words",
                  label->name, label->inner, count);
  return 0;
}

static int check_label(const struct latency_description *desc, size_t index,
                       char *ret_why) {
  const struct latency_label *label = &desc->labels[index];
  if (!is_name(label->name))
    return REFUSE("the name of label %zu is not made of [a-z0-9_]", index);
  if (description__label(desc, label->name) != (int)index ||
      (desc->has_task && strcmp(label->name, "comm") == 0))
    return REFUSE("two labels are called \"%s\"", label->name);
  if (label->decoder >= LATENCY_DECODERS)
    return REFUSE("the decoder of label \"%s\" has the unknown number %u",
                  label->name, label->decoder);
  if (label->optional > 1)
    return REFUSE("optional of label \"%s\" is %u, not 0 or 1", label->name,
                  label->optional);
  if (label->inner > INNER_MAX)
    return REFUSE("label \"%s\" has %u values for each event, more than %d",
                  label->name, label->inner, INNER_MAX);
  return label->decoder == LATENCY_DECODE_ENUM ? check_words(label, ret_why)
                                               : 0;
}

/* What comes after the last entry of a list: nothing, or there is a gap. */
static bool is_unused(const void *entries, size_t size) {
  const char *bytes = entries;
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != 0)
      return false;
  return true;
}

static int check_labels(const struct latency_description *desc, char *ret_why) {
  const struct latency_label *labels = desc->labels;
  unsigned inner = 0;
  unsigned options = 0;
  size_t n = 0;
  for (; n < LATENCY_OWN_LABELS && labels[n].name[0] != '\0'; n++) {
    int ret = check_label(desc, n, ret_why);
    if (ret != 0)
      return ret;
    inner += labels[n].inner > 0;
    options += labels[n].option[0] != '\0';
  }
  if (!is_unused(labels + n, (LATENCY_OWN_LABELS - n) * sizeof(*labels)))
    return REFUSE("label %zu has no name", n);
  if (inner > 1)
    return REFUSE("more than one label has several values for each event");
  /* struct latency_config has room for the values of one filter. */
  if (options > 1)
    return REFUSE("more than one label has a filter option");
  return 0;
}

/* Whoever takes such a list apart need not think of empty words. */
static bool has_empty_word(const char *words) {
  size_t len = strlen(words);
  return len == 0 || words[0] == ' ' || words[len - 1] == ' ' ||
         strstr(words, "  ") != NULL;
}

static int check_rungs(const struct latency_description *desc, char *ret_why) {
  const struct latency_rung *rungs = desc->rungs;
  size_t n = 0;
  for (; n < LATENCY_RUNGS && rungs[n].name[0] != '\0'; n++)
    if (has_empty_word(rungs[n].programs))
      return REFUSE("rung %zu has a program with no name", n);
  if (!is_unused(rungs + n, (LATENCY_RUNGS - n) * sizeof(*rungs)))
    return REFUSE("rung %zu has no name", n);
  return n > 0 ? 0 : REFUSE("it has no rung, so no way to measure");
}

static int check_perf_events(const struct latency_description *desc,
                             char *ret_why) {
  for (size_t i = 0; i < LATENCY_PERF_EVENTS; i++) {
    const char *program = desc->perf_events[i].program;
    bool found = *program == '\0';
    for (size_t j = 0; j < LATENCY_RUNGS && !found; j++)
      found = has_word(desc->rungs[j].programs, program, strlen(program));
    if (!found)
      return REFUSE("the program of perf event %zu is on no rung", i);
  }
  return 0;
}

int description__check(const struct latency_description *desc,
                       char ret_why[DESCRIPTION_WHY_LEN]) {
  int ret = check_strings(desc, ret_why);
  if (ret == 0)
    ret = check_head(desc, ret_why);
  if (ret == 0)
    ret = check_labels(desc, ret_why);
  if (ret == 0)
    ret = check_rungs(desc, ret_why);
  if (ret == 0)
    ret = check_perf_events(desc, ret_why);
  return ret;
}

int description__label(const struct latency_description *desc,
                       const char *name) {
  for (int i = 0; i < LATENCY_OWN_LABELS && desc->labels[i].name[0]; i++)
    if (strcmp(desc->labels[i].name, name) == 0)
      return i;
  return -ENOENT;
}

/* Options are compared as collectd compares its own. */
int description__option(const struct latency_description *desc,
                        const char *option) {
  for (int i = 0; i < LATENCY_OWN_LABELS && desc->labels[i].name[0]; i++)
    if (desc->labels[i].option[0] != '\0' &&
        strcasecmp(desc->labels[i].option, option) == 0)
      return i;
  return -ENOENT;
}

void description__labels(const struct latency_description *desc, char *ret_text,
                         size_t size) {
  size_t len = 0;
  if (size > 0)
    ret_text[0] = '\0';
  for (int i = 0; i <= LATENCY_OWN_LABELS && len < size; i++) {
    const char *name = desc->has_task ? "comm" : "";
    if (i < LATENCY_OWN_LABELS)
      name = desc->labels[i].name;
    if (*name != '\0')
      len += (size_t)snprintf(ret_text + len, size - len, "%s%s",
                              len > 0 ? ", " : "", name);
  }
}
