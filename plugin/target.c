/* SPDX-License-Identifier: MIT */
/* The file of a function that is to be measured, as it is on disk now. */
#include "target.h"

#include "symbol.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *target__path(const struct plan_target *target) {
  static char libc[PATH_MAX];
  if (target->in_kernel || target->binary != NULL)
    return target->binary;
  if (libc[0] == '\0' && symbol__libc(libc, sizeof(libc)) != 0)
    return "libc.so.6";
  return libc;
}

static struct target_file file_of(const struct stat *st) {
  return (struct target_file){st->st_dev, st->st_ino, st->st_size, st->st_mtim};
}

struct target_file target__look(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 ? file_of(&st) : (struct target_file){0};
}

bool target__same(const struct target_file *a, const struct target_file *b) {
  return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
         a->changed.tv_sec == b->changed.tv_sec &&
         a->changed.tv_nsec == b->changed.tv_nsec;
}

static int find(int fd, const struct plan_target *target,
                struct target_file *ret_file, uint64_t *ret_offset,
                char why[SYMBOL_WHY_LEN]) {
  struct stat st;
  int err = fstat(fd, &st) == 0 ? 0 : errno;
  if (err == 0) {
    *ret_file = file_of(&st);
    if (!S_ISREG(st.st_mode))
      err = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
  }
  if (err != 0) {
    snprintf(why, SYMBOL_WHY_LEN, "it is no file: %s", strerror(err));
    return -err;
  }
  return symbol__find(fd, target->symbol, ret_offset, why);
}

int target__open(const struct plan_target *target, struct target_file *ret_file,
                 int *ret_fd, uint64_t *ret_offset, char *why,
                 size_t why_size) {
  const char *path = target__path(target);
  char reason[SYMBOL_WHY_LEN];
  *ret_file = (struct target_file){0};
  /* O_NONBLOCK: the open of a FIFO would wait for a writer. */
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  int err = 0;
  if (fd < 0) {
    err = -errno;
    snprintf(reason, sizeof(reason), "%s", strerror(-err));
  } else {
    err = find(fd, target, ret_file, ret_offset, reason);
  }
  if (err == 0) {
    *ret_fd = fd;
    return 0;
  }
  if (fd >= 0)
    close(fd);
  snprintf(why, why_size, "%s: %s", path, reason);
  return err;
}
