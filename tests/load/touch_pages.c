/* SPDX-License-Identifier: MIT */
/*
 * Minor page faults of a known number: touches COUNT fresh pages, each small,
 * once. Prints what the kernel charged the process for it.
 */
#include "load.h"

#include <sys/mman.h>
#include <sys/resource.h>

static struct rusage usage(void) {
  struct rusage now;
  load_check(getrusage(RUSAGE_SELF, &now) != 0, "getrusage");
  return now;
}

int main(int argc, char **argv) {
  load_usage(argc, argv, 1, "COUNT");
  size_t count = (size_t)load_number(argv[1], "COUNT", 1, 1 << 24);
  long page = sysconf(_SC_PAGESIZE);
  load_check(page < 1, "sysconf");
  size_t size = count * (size_t)page;

  volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  load_check(memory == MAP_FAILED, "mmap");
  /* A kernel without huge pages does not know the advice: fine. */
  int status = madvise((void *)memory, size, MADV_NOHUGEPAGE);
  load_check(status != 0 && errno != EINVAL, "madvise");

  struct rusage before = usage();
  long long start_ns = load_now_ns();
  for (size_t i = 0; i < count; i++)
    memory[i * (size_t)page] = 1;
  long long wall_ns = load_now_ns() - start_ns;
  struct rusage after = usage();

  printf("pages=%zu\nminflt=%ld\nmajflt=%ld\nwall_ns=%lld\n", count,
         after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt,
         wall_ns);
  return EXIT_SUCCESS;
}
