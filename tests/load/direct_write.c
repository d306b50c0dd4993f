/* SPDX-License-Identifier: MIT */
/*
 * Block requests of a known number: SIZE bytes written past the page cache,
 * one after the other, COUNT times, from the start of FILE on.
 */
#include "load.h"

#include <fcntl.h>

#define ALIGNMENT 4096

int main(int argc, char **argv) {
  load_usage(argc, argv, 3, "FILE COUNT SIZE");
  long long count = load_number(argv[2], "COUNT", 1, 1000000000);
  size_t size = (size_t)load_number(argv[3], "SIZE", 512, 1 << 20);

  int fd = open(argv[1], O_WRONLY | O_DIRECT | O_CLOEXEC);
  load_check(fd < 0, argv[1]);
  void *buffer = NULL;
  errno = posix_memalign(&buffer, ALIGNMENT, size);
  load_check(errno != 0, "posix_memalign");
  memset(buffer, 'x', size);

  long long start_ns = load_now_ns();
  for (long long i = 0; i < count; i++) {
    ssize_t written = pwrite(fd, buffer, size, (off_t)(i * (off_t)size));
    load_check(written < 0, "pwrite");
    if ((size_t)written != size) {
      fprintf(stderr, "pwrite: wrote %zd of %zu bytes\n", written, size);
      return EXIT_FAILURE;
    }
  }
  printf("writes=%lld\nwall_ns=%lld\n", count, load_now_ns() - start_ns);
  load_check(close(fd) != 0, "close");
  free(buffer);
  return EXIT_SUCCESS;
}
