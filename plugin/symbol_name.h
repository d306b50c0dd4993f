/* SPDX-License-Identifier: MIT */
/* Names of functions: C++ names as they are written, and which names are
 * near another. Strings only. */
#ifndef SYMBOL_NAME_H
#define SYMBOL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The name with its scopes, "ns::Queue::send", of a mangled name of the Itanium
 * C++ ABI: "_ZN2ns5Queue4sendEi". Only such as are made of plain names: no
 * templates, operators, constructors or names of the standard library. False:
 * it is no such name, or has no room.
 */
bool symbol_name__scoped(const char *mangled, char *ret_name, size_t size);

/* The nearest names to one that was not found, nearest first. */
#define SYMBOL_NEAR_MAX 5

struct symbol_near {
  const char *wanted;
  const char *names[SYMBOL_NEAR_MAX]; /* the caller's */
  size_t distances[SYMBOL_NEAR_MAX];
  size_t num;
};

/* Takes a name in, if it is near and no better ones fill the list. */
void symbol_name__consider(struct symbol_near *near, const char *name);

#endif
