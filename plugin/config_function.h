/* SPDX-License-Identifier: MIT */
/* The options that name functions: Binary, Symbol and <Function>. */
#ifndef CONFIG_FUNCTION_H
#define CONFIG_FUNCTION_H

#include "config_option.h"

/*
 * Readers of the options of a <Probe> block. Binary and Symbol are those of
 * reader->function, or the probe's own when that is NULL.
 */
int config_function__binary(struct config_reader *reader,
                            const struct config_option *option,
                            const oconfig_item_t *item);
int config_function__symbol(struct config_reader *reader,
                            const struct config_option *option,
                            const oconfig_item_t *item);
int config_function__read(struct config_reader *reader,
                          const struct config_option *option,
                          const oconfig_item_t *item);

/* Frees what was read into `probe`. */
void config_function__free_all(struct config_probe *probe);

#endif
