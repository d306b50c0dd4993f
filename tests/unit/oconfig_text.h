/* SPDX-License-Identifier: MIT */
/*
 * Text -> the tree that collectd would make of it, so that a test case is a
 * line of text. Keeps to the rules of collectd's lexer where they surprise:
 * `99,9` is two numbers, `1e2` a string, `0x10` sixteen, `Yes` a string.
 *
 * Two things collectd never lets through are passed on: an option with no
 * value, at which it stops, and an empty block with no value, which it drops.
 * Addresses and strings continued by a backslash are not known here.
 */
#ifndef OCONFIG_TEXT_H
#define OCONFIG_TEXT_H

#include <liboconfig/oconfig.h>

/* <Plugin ebpf_latency> with the lines of `text` inside. NULL: bad syntax. */
oconfig_item_t *oconfig_text__parse(const char *text);

void oconfig_text__free(oconfig_item_t *item);

#endif
