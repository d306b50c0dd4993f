/* SPDX-License-Identifier: MIT */
/* Label values <-> text: system calls, devices, enumerations. */
#ifndef LABEL_H
#define LABEL_H

#include "latency_abi.h"

#include <stddef.h>
#include <stdint.h>

/* Room for any label's text, with the NUL. */
#define LABEL_TEXT_LEN 64

/*
 * The text of `value`: "getppid", "vda", "write", "42"; a class of sizes is its
 * upper bound. A device's name is where `sys_dir` ("/sys") has a link
 * dev/block/MAJOR:MINOR to, an interrupt line's is what kernel/irq/N/actions
 * there says. What ought to have a name and has none is its number: a device
 * MAJOR:MINOR, anything else with the label's name before it, "syscall_470"; so
 * has a function, whose name the plan knows. A 32-bit program's system calls
 * begin with "compat_".
 */
void label__text(const struct latency_label *label, uint32_t value,
                 const char *sys_dir, char *ret_text, size_t size);

/* The value that has this text. 0, or -ENOENT: no such name; -ENOTSUP: the
 * label's decoder cannot be searched by name. */
int label__value(const struct latency_label *label, const char *text,
                 uint32_t *ret_value);

/* The name of a system call number, native or with LATENCY_SYSCALL_COMPAT
 * set; NULL: unknown. Numbers to names of the headers this was built with. */
const char *label__syscall(uint32_t number);

#endif
