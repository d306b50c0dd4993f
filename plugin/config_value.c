/* SPDX-License-Identifier: MIT */
/*
 * One option's values, each by its type. Calls nothing of collectd's: its
 * cf_util_get_*() log on their own, take 3.7 for the integer 3 and overflow
 * without a word.
 */
#include "config_value.h"

#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As much of a message as a key or value may take, with the NUL, and as many
 * values: so that what follows them still fits in CONFIG_ERROR_LEN. */
#define KEY_TEXT_LEN 32
#define VALUE_TEXT_LEN 48
#define VALUES_SHOWN 3
#define VALUES_TEXT_LEN (VALUES_SHOWN * VALUE_TEXT_LEN + sizeof("..."))

static bool is_continuation(char c) {
  return ((unsigned char)c & 0xc0) == 0x80;
}

/* The bytes of the printable character at `s`; 0: it is none, in UTF-8. */
static size_t printable_len(const char *s) {
  unsigned char c = (unsigned char)s[0];
  if (c < 0x80)
    return c >= ' ' && c != 0x7f ? 1 : 0;
  if (c < 0xc2 || c > 0xf4)
    return 0;
  size_t len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  for (size_t i = 1; i < len; i++)
    if (!is_continuation(s[i]))
      return 0;
  /* U+0080 .. U+009f are control characters, too. */
  return c == 0xc2 && (unsigned char)s[1] < 0xa0 ? 0 : len;
}

/* Appends to `text`, a string in `size` bytes, as much as there is room for. */
__attribute__((format(printf, 3, 4))) static void
append(char *text, size_t size, const char *fmt, ...) {
  size_t len = strlen(text);
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(text + len, size - len, fmt, args);
  va_end(args);
}

/* Between two `quote`s, "" or "\"". Says by "..." that it was cut. */
static void escape(const char *s, const char *quote, char *ret_text,
                   size_t size) {
  const size_t reserved = strlen(quote) + sizeof("...");
  (void)snprintf(ret_text, size, "%s", quote);
  while (*s != '\0') {
    size_t len = printable_len(s);
    char piece[8];
    if (len == 0)
      (void)snprintf(piece, sizeof(piece), "\\x%02x", (unsigned char)*s);
    else if (*s == '"' || *s == '\\')
      (void)snprintf(piece, sizeof(piece), "\\%c", *s);
    else
      (void)snprintf(piece, sizeof(piece), "%.*s", (int)len, s);

    if (strlen(ret_text) + strlen(piece) + reserved > size)
      break;
    append(ret_text, size, "%s", piece);
    s += len == 0 ? 1 : len;
  }
  append(ret_text, size, "%s%s", quote, *s == '\0' ? "" : "...");
}

/* The shortest text that reads as `number`. */
static void format_number(double number, char *ret_text, size_t size) {
  if (number > -1e21 && number < 1e21) {
    (void)snprintf(ret_text, size, "%.0f", number);
    if (strtod(ret_text, NULL) == number)
      return;
  }
  for (int digits = 1; digits <= 17; digits++) {
    (void)snprintf(ret_text, size, "%.*g", digits, number);
    if (strtod(ret_text, NULL) == number)
      return;
  }
}

static void format_value(const oconfig_value_t *value, char *ret_text,
                         size_t size) {
  switch (value->type) {
  case OCONFIG_TYPE_STRING:
    config_value__quote(value->value.string, ret_text, size);
    break;
  case OCONFIG_TYPE_NUMBER:
    format_number(value->value.number, ret_text, size);
    break;
  default:
    (void)snprintf(ret_text, size, "%s",
                   value->value.boolean ? "true" : "false");
    break;
  }
}

/* One value or the first few, separated by spaces. */
static void format_values(const oconfig_item_t *item, int index, char *ret_text,
                          size_t size) {
  int first = index == CONFIG_VALUES_ALL ? 0 : index;
  int end = index == CONFIG_VALUES_ALL ? item->values_num : index + 1;
  ret_text[0] = '\0';
  for (int i = first; i < end; i++) {
    if (i - first == VALUES_SHOWN) {
      append(ret_text, size, " ...");
      break;
    }
    char value[VALUE_TEXT_LEN];
    format_value(&item->values[i], value, sizeof(value));
    append(ret_text, size, "%s%s", i == first ? "" : " ", value);
  }
}

static void write_message(const struct config_place *place,
                          const char *message) {
  char probe[CONFIG_NAME_LEN + sizeof(", <Probe \"\">")] = "";
  char function[VALUE_TEXT_LEN + sizeof(", <Function >")] = "";
  if (place->probe != NULL)
    (void)snprintf(probe, sizeof(probe), ", <Probe \"%s\">", place->probe);
  if (place->function != NULL) {
    char name[VALUE_TEXT_LEN];
    config_value__quote(place->function, name, sizeof(name));
    (void)snprintf(function, sizeof(function), ", <Function %s>", name);
  }
  (void)snprintf(place->err, place->err_size, "<Plugin ebpf_latency>%s%s: %s",
                 probe, function, message);
}

int config_value__complain(const struct config_place *place,
                           const oconfig_item_t *item, int index,
                           const char *fmt, ...) {
  char key[KEY_TEXT_LEN], values[VALUES_TEXT_LEN];
  escape(item->key, "", key, sizeof(key));
  format_values(item, index, values, sizeof(values));

  char message[CONFIG_ERROR_LEN];
  (void)snprintf(message, sizeof(message), "%s%s%s: ", key,
                 values[0] == '\0' ? "" : " ", values);
  size_t len = strlen(message);
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(message + len, sizeof(message) - len, fmt, args);
  va_end(args);

  write_message(place, message);
  return -EINVAL;
}

int config_value__unknown(const struct config_place *place,
                          const oconfig_item_t *item, const char *known) {
  char key[KEY_TEXT_LEN], values[VALUES_TEXT_LEN];
  escape(item->key, "", key, sizeof(key));
  format_values(item, CONFIG_VALUES_ALL, values, sizeof(values));

  char message[CONFIG_ERROR_LEN] = "";
  append(message, sizeof(message), "unknown %s %s",
         item->children_num > 0 ? "block" : "option", key);
  if (values[0] != '\0')
    append(message, sizeof(message), " (value %s)", values);
  append(message, sizeof(message), "; known are: %s", known);

  write_message(place, message);
  return -EINVAL;
}

int config_value__no_memory(const struct config_place *place) {
  write_message(place, "out of memory");
  return -ENOMEM;
}

void config_value__quote(const char *text, char *ret_text, size_t size) {
  escape(text == NULL ? "" : text, "\"", ret_text, size);
}

int config_value__count(const struct config_place *place,
                        const oconfig_item_t *item, int count) {
  if (count == 0 ? item->values_num > 0 : item->values_num == count)
    return 0;
  return config_value__complain(
      place, item, CONFIG_VALUES_ALL, "must have %s %d value%s, and has %d",
      count == 0 ? "at least" : "exactly", count == 0 ? 1 : count,
      count > 1 ? "s" : "", item->values_num);
}

/* What a value is that should be something else. */
static const char *type_text(int type) {
  static const char *const text[] = {
      [OCONFIG_TYPE_STRING] = "a string",
      [OCONFIG_TYPE_NUMBER] = "a number",
      [OCONFIG_TYPE_BOOLEAN] = "a boolean",
  };
  return type >= 0 && type < 3 ? text[type] : "that";
}

/* NaN is in no range. */
static bool in_range(const struct config_range *range, double number) {
  if (!(number >= range->min && number <= range->max))
    return false;
  if (range->kind == CONFIG_NUMBER)
    return true;
  uint64_t integer = (uint64_t)number;
  if ((double)integer != number)
    return false;
  return range->kind == CONFIG_INTEGER || (integer & (integer - 1)) == 0;
}

int config_value__number(const struct config_place *place,
                         const oconfig_item_t *item, int index,
                         const struct config_range *range, double *ret_number) {
  static const char *const kinds[] = {
      [CONFIG_NUMBER] = "a number",
      [CONFIG_INTEGER] = "an integer",
      [CONFIG_POWER_OF_TWO] = "a power of two",
  };
  const oconfig_value_t *value = &item->values[index];
  bool is_number = value->type == OCONFIG_TYPE_NUMBER;
  if (is_number && in_range(range, value->value.number)) {
    /* -0 would be a name of its own. */
    *ret_number = value->value.number == 0 ? 0 : value->value.number;
    return 0;
  }

  char min[VALUE_TEXT_LEN], max[VALUE_TEXT_LEN];
  format_number(range->min, min, sizeof(min));
  format_number(range->max, max, sizeof(max));
  return config_value__complain(
      place, item, index, "must be %s from %s to %s%s%s", kinds[range->kind],
      min, max, is_number ? "" : ", not ",
      is_number ? "" : type_text(value->type));
}

int config_value__boolean(const struct config_place *place,
                          const oconfig_item_t *item, int index,
                          bool *ret_boolean) {
  const oconfig_value_t *value = &item->values[index];
  if (value->type != OCONFIG_TYPE_BOOLEAN)
    return config_value__complain(place, item, index,
                                  "must be true or false, not %s",
                                  type_text(value->type));
  *ret_boolean = value->value.boolean != 0;
  return 0;
}

int config_value__string(const struct config_place *place,
                         const oconfig_item_t *item, int index,
                         const char **ret_string) {
  const oconfig_value_t *value = &item->values[index];
  if (value->type != OCONFIG_TYPE_STRING)
    return config_value__complain(place, item, index,
                                  "must be a string in quotes, not %s",
                                  type_text(value->type));
  if (value->value.string == NULL || value->value.string[0] == '\0')
    return config_value__complain(place, item, index, "must not be empty");
  *ret_string = value->value.string;
  return 0;
}
