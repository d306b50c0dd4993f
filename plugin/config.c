/* SPDX-License-Identifier: MIT */
/*
 * Defaults, and the plugin's own block: what each option is called, which
 * values it takes and where they go. Which probes there are is not known here.
 */
#include "config.h"

#include "config_option.h"
#include "config_probe.h"
#include "config_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const char *const default_probes[] = {"runqlat", "memlat", "iolat"};

/* `name` is shorter than CONFIG_NAME_LEN. NULL: out of memory. */
static struct config_probe *add_probe(struct config *conf, const char *name) {
  struct config_probe *probes =
      realloc(conf->probes, (conf->probes_num + 1) * sizeof(*probes));
  if (probes == NULL)
    return NULL;
  conf->probes = probes;

  struct config_probe *probe = &probes[conf->probes_num++];
  *probe = (struct config_probe){0};
  memcpy(probe->name, name, strlen(name) + 1);
  return probe;
}

static void drop_probes(struct config *conf) {
  for (size_t i = 0; i < conf->probes_num; i++)
    config_probe__free(&conf->probes[i]);
  free(conf->probes);
  conf->probes = NULL;
  conf->probes_num = 0;
}

int config__init(struct config *conf, const char *probe_dir) {
  *conf = (struct config){
      .percentiles = {4, {50, 90, 99, 99.9}},
      .buckets = true,
      .max_groups = 32,
      .probe_dir = strdup(probe_dir),
  };
  bool is_complete = conf->probe_dir != NULL;
  for (size_t i = 0; is_complete && i < ARRAY_SIZE(default_probes); i++)
    is_complete = add_probe(conf, default_probes[i]) != NULL;
  if (is_complete)
    return 0;
  config__free(conf);
  return -ENOMEM;
}

static int read_percentiles(struct config_reader *reader,
                            const struct config_option *option,
                            const oconfig_item_t *item) {
  struct config *conf = reader->conf;
  if (!conf->percentiles_set)
    conf->percentiles.count = 0;
  conf->percentiles_set = true;
  return config_option__percentiles(reader, option, item, &conf->percentiles);
}

static int read_boolean(struct config_reader *reader,
                        const struct config_option *option,
                        const oconfig_item_t *item) {
  bool *field = (bool *)((char *)reader->conf + option->offset);
  return config_value__boolean(&reader->place, item, 0, field);
}

static int read_unsigned(struct config_reader *reader,
                         const struct config_option *option,
                         const oconfig_item_t *item) {
  unsigned *field = (unsigned *)((char *)reader->conf + option->offset);
  double number;
  int err =
      config_value__number(&reader->place, item, 0, &option->range, &number);
  if (err == 0)
    *field = (unsigned)number;
  return err;
}

static int read_bounds(struct config_reader *reader,
                       const struct config_option *option,
                       const oconfig_item_t *item) {
  unsigned exponent[2];
  for (int i = 0; i < 2; i++) {
    double bound;
    int err =
        config_value__number(&reader->place, item, i, &option->range, &bound);
    if (err != 0)
      return err;
    exponent[i] = (unsigned)__builtin_ctzll((unsigned long long)bound);
  }
  if (exponent[0] >= exponent[1])
    return config_value__complain(&reader->place, item, CONFIG_VALUES_ALL,
                                  "the first must be below the second");
  reader->conf->low_exp = exponent[0];
  reader->conf->high_exp = exponent[1];
  reader->conf->bounds_set = true;
  return 0;
}

static int read_probe_dir(struct config_reader *reader,
                          const struct config_option *option,
                          const oconfig_item_t *item) {
  (void)option;
  const char *path;
  int err = config_value__string(&reader->place, item, 0, &path);
  if (err != 0)
    return err;
  if (path[0] != '/')
    return config_value__complain(&reader->place, item, 0,
                                  "must be an absolute path");
  char *copy = strdup(path);
  if (copy == NULL)
    return config_value__no_memory(&reader->place);
  free(reader->conf->probe_dir);
  reader->conf->probe_dir = copy;
  reader->conf->probe_dir_set = true;
  return 0;
}

static bool is_named(const struct config *conf, const char *name) {
  for (size_t i = 0; conf->probes_named && i < conf->probes_num; i++)
    if (strcmp(conf->probes[i].name, name) == 0)
      return true;
  return false;
}

static int read_probe(struct config_reader *reader,
                      const struct config_option *option,
                      const oconfig_item_t *item) {
  (void)option;
  struct config *conf = reader->conf;
  const char *name;
  int err = config_value__string(&reader->place, item, 0, &name);
  if (err != 0)
    return err;
  size_t len = strlen(name);
  if (len >= CONFIG_NAME_LEN ||
      len != strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_"))
    return config_value__complain(&reader->place, item, 0,
                                  "must be 1 to %d of a-z, 0-9 and _",
                                  CONFIG_NAME_LEN - 1);
  if (is_named(conf, name))
    return config_value__complain(&reader->place, item, 0,
                                  "must not be named twice");

  if (!conf->probes_named)
    drop_probes(conf);
  conf->probes_named = true;
  struct config_reader inside = {
      .conf = conf, .probe = add_probe(conf, name), .place = reader->place};
  if (inside.probe == NULL)
    return config_value__no_memory(&reader->place);
  inside.place.probe = inside.probe->name;
  return config_probe__read(&inside, item);
}

static const struct config_option option_list[] = {
    {"Percentile", read_percentiles, .range = {CONFIG_NUMBER, 0, 100}},
    {"Buckets", read_boolean, .values = 1,
     .offset = offsetof(struct config, buckets)},
    {"CumulativeBuckets", read_boolean, .values = 1,
     .offset = offsetof(struct config, cumulative_buckets)},
    {"BucketBounds", read_bounds, .values = 2,
     .range = {CONFIG_POWER_OF_TWO, 1, (double)(1ull << LATENCY_MAX_BITS)}},
    {"MaxGroups", read_unsigned, .values = 1,
     .range = {CONFIG_INTEGER, 1, 4096},
     .offset = offsetof(struct config, max_groups)},
    {"ProbeDir", read_probe_dir, .values = 1},
    {"Probe", read_probe, .values = 1, .is_block = true},
};

static const struct config_options options = {
    option_list, ARRAY_SIZE(option_list), NULL, NULL};

int config__add(struct config *conf, const oconfig_item_t *block, char *err,
                size_t err_size) {
  struct config_reader reader = {.conf = conf,
                                 .place = {.err = err, .err_size = err_size}};
  return config_option__read_block(&reader, &options, block);
}

const char *config__warning(struct config *conf) {
  if (conf->warnings_given == conf->warnings_num)
    return NULL;
  return conf->warnings[conf->warnings_given++];
}

void config__bounds(const struct config *conf, unsigned unit,
                    unsigned *ret_low_exp, unsigned *ret_high_exp) {
  static const struct {
    unsigned low_exp, high_exp;
  } defaults[] = {
      [LATENCY_UNIT_NS] = {8, 34},    /* 256 ns .. 17 s */
      [LATENCY_UNIT_BYTES] = {9, 24}, /* 512 bytes .. 16 MiB */
  };
  if (unit >= ARRAY_SIZE(defaults))
    unit = LATENCY_UNIT_NS;
  *ret_low_exp = conf->bounds_set ? conf->low_exp : defaults[unit].low_exp;
  *ret_high_exp = conf->bounds_set ? conf->high_exp : defaults[unit].high_exp;
}

void config__free(struct config *conf) {
  if (conf == NULL)
    return;
  drop_probes(conf);
  for (size_t i = 0; i < conf->warnings_num; i++)
    free(conf->warnings[i]);
  free(conf->warnings);
  free(conf->probe_dir);
  *conf = (struct config){0};
}
