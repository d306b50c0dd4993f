/* SPDX-License-Identifier: MIT */
/* What this process and this kernel lack for loading BPF, for messages. */
#ifndef PRIVILEGE_H
#define PRIVILEGE_H

#include <stddef.h>

/*
 * What is known to be missing, as the end of a sentence: capabilities, the
 * kernel's type information, a lockdown that is in force. "" when nothing is.
 */
void privilege__missing(char *ret_text, size_t size);

#endif
