/* SPDX-License-Identifier: MIT */
/*
 * Between the two halves of description: the file (description_file.c), and
 * what it says (description.c). Nobody else's.
 */
#ifndef DESCRIPTION_CHECK_H
#define DESCRIPTION_CHECK_H

#include "latency_abi.h"

/* Room for what is wrong with a file, its path not included. */
#define DESCRIPTION_WHY_LEN 256

/* May the rest of the plugin rely on it? 0, or -ENOEXEC and why not. */
int description__check(const struct latency_description *desc,
                       char ret_why[DESCRIPTION_WHY_LEN]);

/* Writes `ret_why` and returns -code. */
__attribute__((format(printf, 3, 4))) int
description__refuse(char ret_why[DESCRIPTION_WHY_LEN], int code,
                    const char *format, ...);

#endif
