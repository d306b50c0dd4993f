/* SPDX-License-Identifier: MIT */
/*
 * Many system calls from many threads: getppid exactly CALLS times in all,
 * split over THREADS that are pinned to the CPUs in turn, and spread over
 * SECONDS (0: as fast as it goes).
 */
#include "load.h"

#include <pthread.h>
#include <sys/syscall.h>

/* Between two looks at the clock. */
#define BURST 500

static long long spread_ns;
static long long start_ns;

struct worker {
  pthread_t thread;
  int cpu;
  long long calls;
};

/* Sleeps until the calls made so far are due. */
static void pace(const struct worker *worker, long long done) {
  if (spread_ns == 0)
    return;
  double share = (double)done / (double)worker->calls;
  long long due_ns = start_ns + (long long)(share * (double)spread_ns);
  struct timespec due = load_timespec(due_ns);
  int status;
  do
    status = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
  while (status == EINTR);
  errno = status;
  load_check(status != 0, "clock_nanosleep");
}

static void *work(void *arg) {
  const struct worker *worker = arg;
  load_pin(worker->cpu);
  for (long long i = 0; i < worker->calls; i++) {
    if (i % BURST == 0)
      pace(worker, i);
    syscall(SYS_getppid);
  }
  return NULL;
}

int main(int argc, char **argv) {
  load_usage(argc, argv, 3, "THREADS CALLS SECONDS");
  int threads = (int)load_number(argv[1], "THREADS", 1, 1024);
  long long calls = load_number(argv[2], "CALLS", 1, LLONG_MAX / NS_PER_S);
  spread_ns = load_number(argv[3], "SECONDS", 0, 3600) * NS_PER_S;
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  load_check(cpus < 1, "sysconf");

  struct worker *workers = calloc((size_t)threads, sizeof(*workers));
  load_check(workers == NULL, "calloc");
  start_ns = load_now_ns();
  for (int i = 0; i < threads; i++) {
    workers[i].cpu = (int)(i % cpus);
    workers[i].calls = calls / threads + (i < calls % threads);
    errno = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    load_check(errno != 0, "pthread_create");
  }
  for (int i = 0; i < threads; i++) {
    errno = pthread_join(workers[i].thread, NULL);
    load_check(errno != 0, "pthread_join");
  }

  printf("calls=%lld\nwall_ns=%lld\n", calls, load_now_ns() - start_ns);
  free(workers);
  return EXIT_SUCCESS;
}
