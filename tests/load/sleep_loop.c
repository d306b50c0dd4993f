/* SPDX-License-Identifier: MIT */
/*
 * Calls of a known length: clock_nanosleep of NS nanoseconds, COUNT times. In
 * the real-time class where that is allowed, so that a sleep ends when its time
 * is up, whatever else runs.
 */
#include "load.h"

int main(int argc, char **argv) {
  load_usage(argc, argv, 2, "COUNT NS");
  long long count = load_number(argv[1], "COUNT", 1, 1000000000);
  long long ns = load_number(argv[2], "NS", 0, 3600 * NS_PER_S);

  const struct sched_param priority = {.sched_priority = 50};
  (void)sched_setscheduler(0, SCHED_FIFO, &priority);

  struct timespec duration = load_timespec(ns);
  long long start_ns = load_now_ns();
  for (long long i = 0; i < count; i++) {
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, NULL);
    load_check(errno != 0, "clock_nanosleep");
  }
  printf("sleeps=%lld\nwall_ns=%lld\n", count, load_now_ns() - start_ns);
  return EXIT_SUCCESS;
}
