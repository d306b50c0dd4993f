/* SPDX-License-Identifier: MIT */
/* What is inside a <Probe> block -> struct config_probe. */
#ifndef CONFIG_PROBE_H
#define CONFIG_PROBE_H

#include "config_option.h"

/* Into reader->probe, which is named and else zero. Remarks go to
 * reader->conf. 0, -EINVAL or -ENOMEM. */
int config_probe__read(struct config_reader *reader,
                       const oconfig_item_t *block);

/* Frees what `probe` holds, not itself. */
void config_probe__free(struct config_probe *probe);

#endif
