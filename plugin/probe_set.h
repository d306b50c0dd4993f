/* SPDX-License-Identifier: MIT */
/*
 * The probes that a configuration asks for: checks them against what the
 * objects say of themselves, starts each, and gives out their series. One
 * probe that cannot run never stops the others.
 */
#ifndef PROBE_SET_H
#define PROBE_SET_H

#include "config.h"
#include "metric.h"

#include <stddef.h>

/*
 * Is the configured ProbeDir there, and every named probe in it, and does it
 * know the labels and options that it was given? Reads the object files only.
 * Returns 0, or -EINVAL and one sentence that names block, key and value.
 */
int probe_set__check(const struct config *conf, char *err, size_t err_size);

struct probe_set;

/* severity: LOG_ERR, LOG_WARNING, LOG_INFO of syslog(3). */
typedef void probe_set_log_fn(int severity, const char *message);

/*
 * Starts the probes of a checked configuration, which it borrows. What cannot
 * run is off, with one message that says why. 0, or -ENOMEM.
 */
int probe_set__start(const struct config *conf, probe_set_log_fn *log,
                     struct probe_set **ret_set);

/* Ends the interval of every probe and gives out all series of all. */
void probe_set__read(struct probe_set *set, metric_fn *fn, void *arg);

void probe_set__free(struct probe_set *set);

#endif
