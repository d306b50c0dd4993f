/* SPDX-License-Identifier: MIT */
/*
 * What every load generator needs: arguments that are checked, errors that end
 * the program, the clock. Results go to standard output as "name=value" lines.
 */
#ifndef LOAD_H
#define LOAD_H

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

/* Ends the program when `failed`: "what: why". */
static inline void load_check(int failed, const char *what) {
  if (!failed)
    return;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(EXIT_FAILURE);
}

/* Ends the program unless there are `count` arguments. */
static inline void load_usage(int argc, char **argv, int count,
                              const char *arguments) {
  if (argc == count + 1)
    return;
  fprintf(stderr, "usage: %s %s\n", argv[0], arguments);
  exit(2);
}

/* The argument as a whole number in [min, max], or the program ends. */
static inline long long load_number(const char *text, const char *name,
                                    long long min, long long max) {
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno == 0 && end != text && *end == '\0' && value >= min && value <= max)
    return value;
  fprintf(stderr, "%s must be a whole number from %lld to %lld, not \"%s\"\n",
          name, min, max, text);
  exit(2);
}

static inline long long load_now_ns(void) {
  struct timespec now;
  load_check(clock_gettime(CLOCK_MONOTONIC, &now) != 0, "clock_gettime");
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static inline struct timespec load_timespec(long long ns) {
  return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

/* The calling thread runs on this CPU only, from here on. */
static inline void load_pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  load_check(sched_setaffinity(0, sizeof(set), &set) != 0, "sched_setaffinity");
}

#endif
