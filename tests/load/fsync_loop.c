/* SPDX-License-Identifier: MIT */
/*
 * A file system that must flush: appends a block to FILE and has it synced,
 * COUNT times, each time with its metadata.
 */
#include "load.h"

#include <fcntl.h>

#define BLOCK 4096

int main(int argc, char **argv) {
  load_usage(argc, argv, 2, "FILE COUNT");
  long long count = load_number(argv[2], "COUNT", 1, 1000000000);

  int fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  load_check(fd < 0, argv[1]);
  static char block[BLOCK];
  long long start_ns = load_now_ns();
  for (long long i = 0; i < count; i++) {
    load_check(write(fd, block, sizeof(block)) != sizeof(block), "write");
    load_check(fsync(fd) != 0, "fsync");
  }
  printf("fsyncs=%lld\nwall_ns=%lld\n", count, load_now_ns() - start_ns);
  load_check(close(fd) != 0, "close");
  return EXIT_SUCCESS;
}
