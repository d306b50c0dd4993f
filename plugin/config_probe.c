/* SPDX-License-Identifier: MIT */
/*
 * What is inside a <Probe> block. Which labels the probe has is not known
 * here, so every option that could be a filter of one is kept for whoever
 * knows.
 */
#include "config_probe.h"

#include "config_function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static int read_percentiles(struct config_reader *reader,
                            const struct config_option *option,
                            const oconfig_item_t *item) {
  return config_option__percentiles(reader, option, item,
                                    &reader->probe->percentiles);
}

static int add_label(struct config_reader *reader, const oconfig_item_t *item,
                     int i, const char *label) {
  struct config_probe *probe = reader->probe;
  bool is_none = strcmp(label, "none") == 0;
  if (probe->grouped && (is_none || probe->group_by_num == 0))
    return config_value__complain(&reader->place, item, i,
                                  "\"none\" must be the only one");
  probe->grouped = true;
  if (is_none)
    return 0;

  if (strlen(label) >= CONFIG_NAME_LEN)
    return config_value__complain(&reader->place, item, i,
                                  "must be a label of at most %d bytes",
                                  CONFIG_NAME_LEN - 1);
  for (size_t j = 0; j < probe->group_by_num; j++)
    if (strcmp(label, probe->group_by[j]) == 0)
      return config_value__complain(&reader->place, item, i,
                                    "must not be given twice");
  if (probe->group_by_num == CONFIG_LABELS_MAX)
    return config_option__full(reader, item, i, CONFIG_LABELS_MAX);
  memcpy(probe->group_by[probe->group_by_num++], label, strlen(label) + 1);
  return 0;
}

static int read_group_by(struct config_reader *reader,
                         const struct config_option *option,
                         const oconfig_item_t *item) {
  (void)option;
  for (int i = 0; i < item->values_num; i++) {
    const char *label;
    int err = config_value__string(&reader->place, item, i, &label);
    if (err == 0)
      err = add_label(reader, item, i, label);
    if (err != 0)
      return err;
  }
  return 0;
}

static int warn_of_cut(struct config_reader *reader, const oconfig_item_t *item,
                       int i, const char *comm) {
  char cut[4 * LATENCY_COMM_LEN + sizeof("\"\"...")];
  config_value__quote(comm, cut, sizeof(cut));
  char text[CONFIG_ERROR_LEN];
  const struct config_place remark = {
      .probe = reader->place.probe, .err = text, .err_size = sizeof(text)};
  (void)config_value__complain(
      &remark, item, i,
      "the kernel keeps %d bytes of a name, comparing with %s",
      LATENCY_COMM_LEN - 1, cut);

  struct config *conf = reader->conf;
  char **warnings =
      realloc(conf->warnings, (conf->warnings_num + 1) * sizeof(*warnings));
  if (warnings == NULL)
    return config_value__no_memory(&reader->place);
  conf->warnings = warnings;
  warnings[conf->warnings_num] = strdup(text);
  if (warnings[conf->warnings_num] == NULL)
    return config_value__no_memory(&reader->place);
  conf->warnings_num++;
  return 0;
}

static int read_processes(struct config_reader *reader,
                          const struct config_option *option,
                          const oconfig_item_t *item) {
  (void)option;
  struct config_probe *probe = reader->probe;
  for (int i = 0; i < item->values_num; i++) {
    const char *name;
    int err = config_value__string(&reader->place, item, i, &name);
    if (err != 0)
      return err;
    if (probe->comms_num == LATENCY_FILTER_MAX)
      return config_option__full(reader, item, i, LATENCY_FILTER_MAX);
    /* The kernel cuts by bytes, in the middle of a character as well. */
    char *comm = probe->comms[probe->comms_num++];
    memcpy(comm, name, strnlen(name, LATENCY_COMM_LEN - 1));
    if (strlen(name) < LATENCY_COMM_LEN)
      continue;
    err = warn_of_cut(reader, item, i, comm);
    if (err != 0)
      return err;
  }
  return 0;
}

static int read_pids(struct config_reader *reader,
                     const struct config_option *option,
                     const oconfig_item_t *item) {
  struct config_probe *probe = reader->probe;
  for (int i = 0; i < item->values_num; i++) {
    double pid;
    int err =
        config_value__number(&reader->place, item, i, &option->range, &pid);
    if (err != 0)
      return err;
    if (probe->pids_num == LATENCY_FILTER_MAX)
      return config_option__full(reader, item, i, LATENCY_FILTER_MAX);
    probe->pids[probe->pids_num++] = (uint32_t)pid;
  }
  return 0;
}

static int read_rung(struct config_reader *reader,
                     const struct config_option *option,
                     const oconfig_item_t *item) {
  (void)option;
  const char *name;
  int err = config_value__string(&reader->place, item, 0, &name);
  if (err != 0)
    return err;
  if (strlen(name) >= CONFIG_RUNG_LEN)
    return config_value__complain(&reader->place, item, 0,
                                  "must have at most %zu bytes",
                                  CONFIG_RUNG_LEN - 1);
  memset(reader->probe->rung, 0, CONFIG_RUNG_LEN);
  memcpy(reader->probe->rung, name, strlen(name));
  return 0;
}

/* The filter of this name, which is a new one unless it was given before.
 * NULL: out of memory. */
static struct config_filter *get_filter(struct config_probe *probe,
                                        const char *option) {
  for (size_t i = 0; i < probe->filters_num; i++)
    if (strcasecmp(probe->filters[i].option, option) == 0)
      return &probe->filters[i];

  struct config_filter *filters =
      realloc(probe->filters, (probe->filters_num + 1) * sizeof(*filters));
  if (filters == NULL)
    return NULL;
  probe->filters = filters;
  struct config_filter *filter = &filters[probe->filters_num];
  *filter = (struct config_filter){.option = strdup(option)};
  if (filter->option == NULL)
    return NULL;
  probe->filters_num++;
  return filter;
}

static int add_filter_value(struct config_filter *filter, const char *value) {
  char **values =
      realloc(filter->values, (filter->values_num + 1) * sizeof(*values));
  if (values == NULL)
    return -ENOMEM;
  filter->values = values;
  values[filter->values_num] = strdup(value);
  if (values[filter->values_num] == NULL)
    return -ENOMEM;
  filter->values_num++;
  return 0;
}

static bool could_be_filter(const oconfig_item_t *item) {
  for (int i = 0; i < item->values_num; i++)
    if (item->values[i].type != OCONFIG_TYPE_STRING)
      return false;
  return item->values_num > 0 && item->children_num == 0;
}

static int read_filter(struct config_reader *reader,
                       const oconfig_item_t *item);

static const struct config_option option_list[] = {
    {"GroupBy", read_group_by, .values = 0},
    {"Process", read_processes, .values = 0},
    {"Pid", read_pids, .range = {CONFIG_INTEGER, 1, 4194304}},
    {"Percentile", read_percentiles, .range = {CONFIG_NUMBER, 0, 100}},
    {"Rung", read_rung, .values = 1},
    {"Binary", config_function__binary, .values = 1},
    {"Symbol", config_function__symbol, .values = 1},
    {"Function", config_function__read, .values = 1, .is_block = true},
};

static const struct config_options options = {
    option_list, ARRAY_SIZE(option_list), read_filter,
    "and the filters of the probe, which take strings in quotes"};

static int read_filter(struct config_reader *reader,
                       const oconfig_item_t *item) {
  if (!could_be_filter(item))
    return config_option__unknown(reader, &options, item);

  struct config_filter *filter = get_filter(reader->probe, item->key);
  if (filter == NULL)
    return config_value__no_memory(&reader->place);
  for (int i = 0; i < item->values_num; i++) {
    const char *value;
    int err = config_value__string(&reader->place, item, i, &value);
    if (err != 0)
      return err;
    if (add_filter_value(filter, value) != 0)
      return config_value__no_memory(&reader->place);
  }
  return 0;
}

int config_probe__read(struct config_reader *reader,
                       const oconfig_item_t *block) {
  return config_option__read_block(reader, &options, block);
}

void config_probe__free(struct config_probe *probe) {
  for (size_t i = 0; i < probe->filters_num; i++) {
    struct config_filter *filter = &probe->filters[i];
    for (size_t j = 0; j < filter->values_num; j++)
      free(filter->values[j]);
    free(filter->values);
    free(filter->option);
  }
  free(probe->filters);
  config_function__free_all(probe);
  *probe = (struct config_probe){0};
}
