/* SPDX-License-Identifier: MIT */
/*
 * Blocks of options by table: which there are, how many values each takes,
 * and who reads them.
 */
#ifndef CONFIG_OPTION_H
#define CONFIG_OPTION_H

#include "config.h"
#include "config_value.h"

/* What is being read, and where to. */
struct config_reader {
  struct config *conf;
  struct config_probe *probe;       /* NULL: the plugin's own block */
  struct config_function *function; /* NULL: in no <Function> block */
  struct config_place place;
};

struct config_option {
  const char *key;
  /* Is called with a number of values that is right. */
  int (*read)(struct config_reader *reader, const struct config_option *option,
              const oconfig_item_t *item);
  int values; /* how many it takes; 0: one or more */
  bool is_block;
  struct config_range range; /* of numbers */
  size_t offset;             /* of a scalar in struct config */
};

struct config_options {
  const struct config_option *list;
  size_t num;
  /* An option that the list has not; NULL: there are no others. */
  int (*read_other)(struct config_reader *reader, const oconfig_item_t *item);
  const char *others; /* what may be said of those, after the list */
};

/* Reads what is inside `block`. All here: 0, -EINVAL or -ENOMEM. */
int config_option__read_block(struct config_reader *reader,
                              const struct config_options *options,
                              const oconfig_item_t *block);

/* Refuses `item`, and says which options there are. */
int config_option__unknown(const struct config_reader *reader,
                           const struct config_options *options,
                           const oconfig_item_t *item);

/* Refuses the value for which a list has no room. */
int config_option__full(const struct config_reader *reader,
                        const oconfig_item_t *item, int index, size_t max);

/* Adds to `percentiles`. */
int config_option__percentiles(const struct config_reader *reader,
                               const struct config_option *option,
                               const oconfig_item_t *item,
                               struct config_percentiles *percentiles);

#endif
