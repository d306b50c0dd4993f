/* SPDX-License-Identifier: MIT */
/*
 * One option's values, each by its type, or one sentence on what is wrong with
 * them: block, key, value as written, and what is allowed. Knows no option.
 */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include <liboconfig/oconfig.h>
#include <stdbool.h>
#include <stddef.h>

/* Where in the configuration we are, and where a message goes. */
struct config_place {
  const char *probe;    /* NULL: in the plugin's own block */
  const char *function; /* NULL: in no <Function> block */
  char *err;
  size_t err_size;
};

enum config_number {
  CONFIG_NUMBER,
  CONFIG_INTEGER,
  CONFIG_POWER_OF_TWO,
};

/* What a number has to be; both ends belong to it, neither is negative. */
struct config_range {
  enum config_number kind;
  double min, max;
};

/* In place of a value's index: the whole line is meant. */
#define CONFIG_VALUES_ALL (-1)

/*
 * Writes "<Plugin ebpf_latency>, <Probe "p">: KEY VALUE: MESSAGE", in one line
 * whatever KEY and VALUE hold. Always returns -EINVAL.
 */
int config_value__complain(const struct config_place *place,
                           const oconfig_item_t *item, int index,
                           const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* "unknown option KEY (value VALUE); known are: KNOWN". Returns -EINVAL. */
int config_value__unknown(const struct config_place *place,
                          const oconfig_item_t *item, const char *known);

/* Returns -ENOMEM. */
int config_value__no_memory(const struct config_place *place);

/* `text` in quotes, cut to `size`, what cannot be printed as \xNN. */
void config_value__quote(const char *text, char *ret_text, size_t size);

/*
 * All below: 0, or -EINVAL and a message.
 */

/* Has it that many values? count 0: one or more. */
int config_value__count(const struct config_place *place,
                        const oconfig_item_t *item, int count);

int config_value__number(const struct config_place *place,
                         const oconfig_item_t *item, int index,
                         const struct config_range *range, double *ret_number);

/* A real boolean: the string "true" is none. */
int config_value__boolean(const struct config_place *place,
                          const oconfig_item_t *item, int index,
                          bool *ret_boolean);

/* Not empty. Still the item's. */
int config_value__string(const struct config_place *place,
                         const oconfig_item_t *item, int index,
                         const char **ret_string);

#endif
