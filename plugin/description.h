/* SPDX-License-Identifier: MIT */
/*
 * What a probe says of itself: read from the ELF file, with no BPF and no
 * privilege, so that configuration is checked before anything is loaded.
 */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include "latency_abi.h"

#include <stddef.h>

/* An object file in memory; `bytes` is the holder's to free. */
struct description_image {
  void *bytes;
  size_t size;
};

/*
 * Reads the description out of the object file `path`, and gives out the file
 * as it was read (`ret_image`, NULL: not wanted), so that what is loaded later
 * is what was checked. Returns 0; -ENOENT when
 * there is no such file; -EPERM when it is no regular file or could be written
 * by another than root or us; -ENOEXEC when it is no probe of this ABI, or of
 * another name than NAME.bpf.o; another -errno when it cannot be read. `err`
 * says which and why in one sentence that begins with the path.
 */
int description__read(const char *path, struct latency_description *ret_desc,
                      struct description_image *ret_image, char *err,
                      size_t err_size);

/* The same on an object that is in memory already; `path` is for messages. */
int description__parse(const char *path, const void *image, size_t image_size,
                       struct latency_description *ret_desc, char *err,
                       size_t err_size);

/* The index of the label so called, or -ENOENT. "" is the end of the labels. */
int description__label(const struct latency_description *desc,
                       const char *name);

/* The index of the label whose filter option is so called, in upper or lower
 * case, or -ENOENT. */
int description__option(const struct latency_description *desc,
                        const char *option);

/* The names of the labels, "comm" among them, separated by ", ", for people. */
void description__labels(const struct latency_description *desc, char *ret_text,
                         size_t size);

#endif
