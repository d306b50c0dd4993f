/* SPDX-License-Identifier: MIT */
/*
 * The file of a function that is to be measured, as it is on disk now: it may
 * come later, and an upgrade puts another in its place.
 */
#ifndef TARGET_H
#define TARGET_H

#include "plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Which file it is; all zero: none is there. */
struct target_file {
  dev_t dev;
  ino_t ino;
  off_t size;
  struct timespec changed;
};

/* The path of its file; of the kernel's functions NULL. */
const char *target__path(const struct plan_target *target);

/* What is at the path now. */
struct target_file target__look(const char *path);

bool target__same(const struct target_file *a, const struct target_file *b);

/*
 * Opens the file and finds the function in it: what is found is in the file
 * that is open, whatever comes to be at the path. Returns 0, and a descriptor
 * that is the caller's; or -errno and a sentence in `why`. `ret_file` is set in
 * any case: the file that was tried.
 */
int target__open(const struct plan_target *target, struct target_file *ret_file,
                 int *ret_fd, uint64_t *ret_offset, char *why, size_t why_size);

#endif
