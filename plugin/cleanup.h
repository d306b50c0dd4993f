/* SPDX-License-Identifier: MIT */
/* Ownership that a reader sees: a local with _cleanup_ is freed at the end of
 * its scope unless TAKE_PTR() hands it on. */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <stdlib.h>

#define _cleanup_(fn) __attribute__((cleanup(fn), unused))
#define _cleanup_free_ _cleanup_(cleanup__free)

#define TAKE_PTR(ptr)                                                          \
  ({                                                                           \
    __typeof__(ptr) taken_ = (ptr);                                            \
    (ptr) = NULL;                                                              \
    taken_;                                                                    \
  })

/* For _cleanup_(): frees what the pointer at `ptr` points to. */
#define CLEANUP_DEFINE(type, fn)                                               \
  static inline void fn##p(type **ptr) { fn(*ptr); }

static inline void cleanup__free(void *ptr) { free(*(void **)ptr); }

#endif
