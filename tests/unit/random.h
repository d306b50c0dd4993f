/* SPDX-License-Identifier: MIT */
/* Random numbers for property tests: the same ones on every machine. */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stdint.h>

static uint64_t random_seed = 88172645463325252u;

/* xorshift64* */
static inline uint64_t random_u64(void) {
  random_seed ^= random_seed >> 12;
  random_seed ^= random_seed << 25;
  random_seed ^= random_seed >> 27;
  return random_seed * 0x2545f4914f6cdd1du;
}

/* Up to `bits` bits, any magnitude with the same chance. */
static inline uint64_t random_value(unsigned bits) {
  return random_u64() >> (64 - bits) >> random_u64() % bits;
}

#endif
