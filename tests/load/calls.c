/* SPDX-License-Identifier: MIT */
/*
 * Functions for a probe to be put on, each called a known number of times:
 *
 *   load_sleep    COUNT calls, each sleeps for NS
 *   load_outer    COUNT calls, each calls load_inner three times
 *   load_descend  COUNT calls from outside, each 9 deep in itself
 *   load_plunge   one call from outside, 40 deep in itself
 *   load_escape   COUNT calls, of which every other one never returns
 *   load::Queue::send(int), by its mangled name: COUNT calls
 */
#include "load.h"

#include <setjmp.h>

#define VISIBLE __attribute__((noinline, noclone, used))

static volatile int sink;
static jmp_buf out;

VISIBLE void load_sleep(long long ns) {
  const struct timespec pause = load_timespec(ns);
  load_check(nanosleep(&pause, NULL) != 0, "nanosleep");
  sink++;
}

VISIBLE void load_inner(void) { sink++; }

VISIBLE void load_outer(void) {
  for (int i = 0; i < 3; i++)
    load_inner();
  sink++;
}

VISIBLE void load_descend(int depth) {
  if (depth > 1)
    load_descend(depth - 1);
  sink++; /* or the call would become a jump */
}

VISIBLE void load_plunge(int depth) {
  if (depth > 1)
    load_plunge(depth - 1);
  sink++;
}

VISIBLE void load_escape(int is_odd) {
  if (is_odd)
    longjmp(out, 1);
  sink++;
}

void queue_send(int value) __asm__("_ZN4load5Queue4sendEi");
VISIBLE void queue_send(int value) { sink = value; }

int main(int argc, char **argv) {
  load_usage(argc, argv, 2, "COUNT NS");
  const long long count = load_number(argv[1], "COUNT", 1, INT_MAX);
  const long long ns = load_number(argv[2], "NS", 0, NS_PER_S);
  for (volatile long long i = 0; i < count; i++) {
    load_sleep(ns);
    load_outer();
    load_descend(9);
    queue_send((int)i);
    if (setjmp(out) == 0)
      load_escape(i % 2);
  }
  load_plunge(40);
  printf("calls=%lld\n", count);
  return EXIT_SUCCESS;
}
