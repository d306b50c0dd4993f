/* SPDX-License-Identifier: MIT */
/*
 * A process that wants a CPU all the time: spins for SECONDS on CPU under the
 * name NAME, and prints what the scheduler says of it for that time.
 */
#include "load.h"

#include <sys/prctl.h>

/* Fields of /proc/self/schedstat. */
struct schedstat {
  long long run_ns, wait_ns, slices;
};

static struct schedstat read_schedstat(void) {
  FILE *file = fopen("/proc/self/schedstat", "re");
  load_check(file == NULL, "/proc/self/schedstat");
  struct schedstat stat;
  int fields =
      fscanf(file, "%lld %lld %lld", &stat.run_ns, &stat.wait_ns, &stat.slices);
  load_check(fields != 3, "/proc/self/schedstat");
  fclose(file);
  return stat;
}

int main(int argc, char **argv) {
  load_usage(argc, argv, 3, "SECONDS CPU NAME");
  long long seconds = load_number(argv[1], "SECONDS", 1, 3600);
  load_pin((int)load_number(argv[2], "CPU", 0, CPU_SETSIZE - 1));
  load_check(prctl(PR_SET_NAME, argv[3]) != 0, "prctl");

  struct schedstat before = read_schedstat();
  long long start_ns = load_now_ns();
  while (load_now_ns() < start_ns + seconds * NS_PER_S)
    ;
  struct schedstat after = read_schedstat();

  printf("run_ns=%lld\nwait_ns=%lld\nslices=%lld\n",
         after.run_ns - before.run_ns, after.wait_ns - before.wait_ns,
         after.slices - before.slices);
  return EXIT_SUCCESS;
}
