/* SPDX-License-Identifier: MIT */
/* Blocks of options by table, and what the blocks have in common. */
#include "config_option.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define KNOWN_TEXT_LEN 256

/* Keys have no case, as everywhere in collectd. NULL: there is none. */
static const struct config_option *find(const struct config_options *options,
                                        const char *key) {
  for (size_t i = 0; i < options->num; i++)
    if (strcasecmp(options->list[i].key, key) == 0)
      return &options->list[i];
  return NULL;
}

static int read_item(struct config_reader *reader,
                     const struct config_options *options,
                     const oconfig_item_t *item) {
  const struct config_option *option = find(options, item->key);
  if (option == NULL && options->read_other != NULL)
    return options->read_other(reader, item);
  if (option == NULL)
    return config_option__unknown(reader, options, item);

  if (item->children_num > 0 && !option->is_block)
    return config_value__complain(&reader->place, item, CONFIG_VALUES_ALL,
                                  "is an option, and must not be a block");
  int err = config_value__count(&reader->place, item, option->values);
  if (err != 0)
    return err;
  return option->read(reader, option, item);
}

int config_option__read_block(struct config_reader *reader,
                              const struct config_options *options,
                              const oconfig_item_t *block) {
  for (int i = 0; i < block->children_num; i++) {
    int err = read_item(reader, options, &block->children[i]);
    if (err != 0)
      return err;
  }
  return 0;
}

int config_option__unknown(const struct config_reader *reader,
                           const struct config_options *options,
                           const oconfig_item_t *item) {
  char known[KNOWN_TEXT_LEN] = "";
  size_t len = 0;
  for (size_t i = 0; i < options->num; i++) {
    const struct config_option *option = &options->list[i];
    int written = snprintf(known + len, sizeof(known) - len, "%s%s%s%s",
                           i == 0 ? "" : ", ", option->is_block ? "<" : "",
                           option->key, option->is_block ? ">" : "");
    len += (size_t)written;
    if (len >= sizeof(known))
      len = sizeof(known) - 1;
  }
  if (options->others != NULL)
    (void)snprintf(known + len, sizeof(known) - len, ", %s", options->others);
  return config_value__unknown(&reader->place, item, known);
}

int config_option__full(const struct config_reader *reader,
                        const oconfig_item_t *item, int index, size_t max) {
  return config_value__complain(&reader->place, item, index,
                                "is one too many, at most %zu are possible",
                                max);
}

/* Ascending, each once. False: there is no room. */
static bool insert(struct config_percentiles *percentiles, double value) {
  size_t at = 0;
  while (at < percentiles->count && percentiles->value[at] < value)
    at++;
  if (at < percentiles->count && percentiles->value[at] == value)
    return true;
  if (percentiles->count == CONFIG_PERCENTILES_MAX)
    return false;
  memmove(&percentiles->value[at + 1], &percentiles->value[at],
          (percentiles->count - at) * sizeof(percentiles->value[0]));
  percentiles->value[at] = value;
  percentiles->count++;
  return true;
}

int config_option__percentiles(const struct config_reader *reader,
                               const struct config_option *option,
                               const oconfig_item_t *item,
                               struct config_percentiles *percentiles) {
  for (int i = 0; i < item->values_num; i++) {
    double value;
    int err =
        config_value__number(&reader->place, item, i, &option->range, &value);
    if (err != 0)
      return err;
    if (!insert(percentiles, value))
      return config_option__full(reader, item, i, CONFIG_PERCENTILES_MAX);
  }
  return 0;
}
