/* SPDX-License-Identifier: MIT */
/*
 * The options that name functions. Whether the file is there, and the function
 * in it, is no matter of the configuration: both may come later.
 */
#include "config_function.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* They stand in log lines and, with a hash, in the names of series. */
#define FUNCTION_NAME_MAX 63
#define SYMBOL_MAX 255

static int keep(const struct config_reader *reader, const char *text,
                char **ret_copy) {
  char *copy = strdup(text);
  if (copy == NULL)
    return config_value__no_memory(&reader->place);
  free(*ret_copy);
  *ret_copy = copy;
  return 0;
}

int config_function__binary(struct config_reader *reader,
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
  return keep(reader, path,
              reader->function != NULL ? &reader->function->binary
                                       : &reader->probe->binary);
}

int config_function__symbol(struct config_reader *reader,
                            const struct config_option *option,
                            const oconfig_item_t *item) {
  (void)option;
  const char *name;
  int err = config_value__string(&reader->place, item, 0, &name);
  if (err != 0)
    return err;
  if (strlen(name) > SYMBOL_MAX)
    return config_value__complain(&reader->place, item, 0,
                                  "must have at most %d bytes", SYMBOL_MAX);
  return keep(reader, name,
              reader->function != NULL ? &reader->function->symbol
                                       : &reader->probe->symbol);
}

static const struct config_option option_list[] = {
    {"Binary", config_function__binary, .values = 1},
    {"Symbol", config_function__symbol, .values = 1},
};

static const struct config_options options = {
    option_list, ARRAY_SIZE(option_list), NULL, NULL};

/* NULL: out of memory. */
static struct config_function *add(struct config_probe *probe,
                                   const char *name) {
  struct config_function *functions = realloc(
      probe->functions, (probe->functions_num + 1) * sizeof(*functions));
  if (functions == NULL)
    return NULL;
  probe->functions = functions;
  struct config_function *function = &functions[probe->functions_num];
  *function = (struct config_function){.name = strdup(name)};
  if (function->name == NULL)
    return NULL;
  probe->functions_num++;
  return function;
}

int config_function__read(struct config_reader *reader,
                          const struct config_option *option,
                          const oconfig_item_t *item) {
  (void)option;
  struct config_probe *probe = reader->probe;
  const char *name;
  int err = config_value__string(&reader->place, item, 0, &name);
  if (err != 0)
    return err;
  if (strlen(name) > FUNCTION_NAME_MAX)
    return config_value__complain(&reader->place, item, 0,
                                  "must have at most %d bytes",
                                  FUNCTION_NAME_MAX);
  for (size_t i = 0; i < probe->functions_num; i++)
    if (strcmp(probe->functions[i].name, name) == 0)
      return config_value__complain(&reader->place, item, 0,
                                    "must not be named twice");
  if (probe->functions_num == LATENCY_FUNCTIONS)
    return config_option__full(reader, item, 0, LATENCY_FUNCTIONS);

  struct config_reader inside = *reader;
  inside.function = add(probe, name);
  if (inside.function == NULL)
    return config_value__no_memory(&reader->place);
  inside.place.function = inside.function->name;
  return config_option__read_block(&inside, &options, item);
}

void config_function__free_all(struct config_probe *probe) {
  for (size_t i = 0; i < probe->functions_num; i++) {
    free(probe->functions[i].name);
    free(probe->functions[i].binary);
    free(probe->functions[i].symbol);
  }
  free(probe->functions);
  free(probe->binary);
  free(probe->symbol);
}
