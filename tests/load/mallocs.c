/* SPDX-License-Identifier: MIT */
/*
 * Allocations: malloc and free exactly COUNT times of each of a few sizes, in
 * each of THREADS threads. The sizes stand in classes that libc itself, which
 * allocates for its streams and threads, does not use here.
 */
#include "load.h"

#include <pthread.h>

static const size_t sizes[] = {3, 13, 100, 250, 30000, 200000, 3000000};

#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* The compiler would leave out a malloc that is only freed. */
static void *volatile keep;

static void *work(void *arg) {
  const long long count = *(const long long *)arg;
  for (long long i = 0; i < count; i++)
    for (size_t j = 0; j < SIZES; j++) {
      void *block = malloc(sizes[j]);
      load_check(block == NULL, "malloc");
      keep = block;
      free(block);
    }
  return NULL;
}

int main(int argc, char **argv) {
  load_usage(argc, argv, 2, "THREADS COUNT");
  const int threads = (int)load_number(argv[1], "THREADS", 1, 64);
  long long count = load_number(argv[2], "COUNT", 1, INT_MAX);
  pthread_t thread[64];
  const long long start_ns = load_now_ns();
  for (int i = 0; i < threads; i++) {
    errno = pthread_create(&thread[i], NULL, work, &count);
    load_check(errno != 0, "pthread_create");
  }
  for (int i = 0; i < threads; i++) {
    errno = pthread_join(thread[i], NULL);
    load_check(errno != 0, "pthread_join");
  }
  printf("mallocs_each=%lld\nwall_ns=%lld\n", threads * count,
         load_now_ns() - start_ns);
  return EXIT_SUCCESS;
}
