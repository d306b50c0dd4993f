/* SPDX-License-Identifier: MIT */
/* libbpf's own messages: where they go, and which of them tells a reason. */
#ifndef LIBBPF_LOG_H
#define LIBBPF_LOG_H

#include "probe.h"

/* Where they go, line by line: process-wide, as libbpf has it. */
void libbpf_log__set(probe_log_fn *fn);

/* Forgets what was complained about. */
void libbpf_log__begin(void);

/* The first complaint since then that tells a reason; "": none. */
const char *libbpf_log__complaint(void);

#endif
