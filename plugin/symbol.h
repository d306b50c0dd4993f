/* SPDX-License-Identifier: MIT */
/*
 * Where a function is in a program or library: its name -> the offset in the
 * file, as uprobes want it. Reads the ELF file, with no BPF and no privilege.
 */
#ifndef SYMBOL_H
#define SYMBOL_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOL_WHY_LEN 384

/*
 * Looks for the function `name` in .symtab and .dynsym of the open file: a
 * symbol of that name; or, when there is none, the one function of C++ whose
 * name with its scopes, "ns::Queue::send", is that, whatever types its
 * arguments have. Returns 0, or in `ret_why` a part of a sentence and
 *
 *   -ENOENT   there is none; names that are near are listed
 *   -EEXIST   there are several
 *   -ENOTSUP  a probe may not be put there: a program in Go, whose stacks move
 *             while a return is awaited, or a function that is chosen at start
 *   -ENOEXEC  no program and no library; another -errno: it cannot be read
 */
int symbol__find(int fd, const char *name, uint64_t *ret_offset,
                 char ret_why[SYMBOL_WHY_LEN]);

/* The path of the C library that this process runs with. 0 or -ENOENT. */
int symbol__libc(char *ret_path, size_t size);

#endif
