/* SPDX-License-Identifier: MIT */
/*
 * What a probe's BPF object, the plugin and the unit tests share: the shape of
 * the histogram, the layout of every map, and the description a probe opens
 * with. Compiled into all three, so that what is tested is what runs.
 *
 * A .bpf.o that keeps to this file is a probe, whoever built it. A change of
 * any layout below is a change of LATENCY_ABI_VERSION.
 */
#ifndef LATENCY_ABI_H
#define LATENCY_ABI_H

#include <linux/types.h>

#define LATENCY_ABI_VERSION 1

/*
 * The histogram. Log-linear: 2^LATENCY_SUB_BITS buckets of equal width in each
 * power of two. Bucket i counts the values in (lower, upper], as Prometheus
 * does, so a power of two is always an exact upper bound.
 *
 *   index 0        the value 0
 *   index 1..32    the values 1..32, one each
 *   index 33..592  (32, 2^40], 16 buckets per power of two
 *   index 593      above 2^40 (18 minutes in ns, 1 TiB in bytes)
 */
#define LATENCY_SUB_BITS 4
#define LATENCY_MAX_BITS 40
#define LATENCY_OVERFLOW                                                       \
  (((LATENCY_MAX_BITS - LATENCY_SUB_BITS + 1) << LATENCY_SUB_BITS) + 1)
#define LATENCY_BUCKETS (LATENCY_OVERFLOW + 1)

/*
 * One label set on one CPU. Counters only grow; intervals are differences that
 * user space takes. 75 whole cache lines, so rows of two CPUs share none.
 */
struct latency_row {
  __u64 sum;
  /* The largest value of the interval, in the slot of the epoch's parity. */
  __u64 max[2];
  __u64 reserved[3];
  __u64 bucket[LATENCY_BUCKETS];
};

/* Seen, and not in the histogram: why. One line of counters per CPU. */
enum latency_lost {
  LATENCY_LOST_FILTERED,  /* not one of those asked for */
  LATENCY_LOST_UNMATCHED, /* an end whose start was not seen, or a start whose
                             end was not */
  LATENCY_LOST_NEGATIVE,  /* an end before its start */
  LATENCY_LOST_MAP_FULL,  /* no room to remember a start */
  LATENCY_LOST_BUSY,      /* the map was locked by what was interrupted */
  LATENCY_LOST_REASONS,
};

struct latency_ledger {
  __u64 lost[8];
};

/*
 * A label set. Labels that are not grouped by are zero. The label that a
 * description marks as `inner` is not in the key: its values are consecutive
 * rows of one group.
 */
#define LATENCY_OWN_LABELS 4
#define LATENCY_COMM_LEN 16

struct latency_key {
  __u32 own[LATENCY_OWN_LABELS];
  char comm[LATENCY_COMM_LEN];
};

/* Group 0 is the only one of an ungrouped probe, and else takes the rest. */
#define LATENCY_OTHER 0

struct latency_group {
  struct latency_key key;
  __u32 used; /* set once the key is final and rows may count */
  __u32 reserved;
};

/* The row of a label set on a CPU: ((group * inner) + phase) * cpus + cpu. */

/*
 * Written by the plugin before the object is loaded, read-only from then on:
 * the verifier takes it for constants and removes what they rule out.
 */
#define LATENCY_FILTER_MAX 16
#define LATENCY_FILTER_RANGE 1024
#define LATENCY_GROUP_BY_COMM (1u << 31)

struct latency_config {
  __u32 cpus;     /* possible CPUs */
  __u32 group_by; /* bit i: own label i; LATENCY_GROUP_BY_COMM */
  __u32 inner;    /* rows of one group on one CPU, at least 1 */
  __u32 pids;     /* entries of pid; 0: all */
  __u32 comms;    /* entries of comm; 0: all */
  __u32 values;   /* 1: only values of the filter label set in `value` */
  __u32 function; /* number of the configured function that this is for */
  __u32 pid[LATENCY_FILTER_MAX];
  __u64 comm[LATENCY_FILTER_MAX][LATENCY_COMM_LEN / 8];
  __u64 value[LATENCY_FILTER_RANGE / 64];
};

/* Shared with the running programs: the plugin writes, they read. */
struct latency_control {
  __u32 epoch;       /* number of the interval; its parity picks max[] */
  __u32 groups_full; /* the programs set it: no free group was left */
};

/*
 * A probe's description of itself, in the ELF section LATENCY_SECTION. The
 * plugin knows nothing else of a probe. Strings are NUL-terminated.
 */
#define LATENCY_SECTION ".latency"

enum latency_unit {
  LATENCY_UNIT_NS,
  LATENCY_UNIT_BYTES,
};

/* How a label's number becomes text. */
enum latency_decoder {
  LATENCY_DECODE_NUMBER,
  LATENCY_DECODE_ENUM,     /* the number's word in `values` */
  LATENCY_DECODE_DEVICE,   /* a block device: major << 20 | minor */
  LATENCY_DECODE_SYSCALL,  /* a system call, LATENCY_SYSCALL_COMPAT apart */
  LATENCY_DECODE_IRQ,      /* an interrupt line, by its handlers' names */
  LATENCY_DECODE_POWER,    /* latency_power_class(), by its upper bound */
  LATENCY_DECODE_FUNCTION, /* a configured function, by its block's name */
  LATENCY_DECODERS,
};

/* Set in a system call's number when a 32-bit program made it. */
#define LATENCY_SYSCALL_COMPAT 512

struct latency_label {
  char name[16];
  char option[16];  /* a filter of this name takes its values; "": none */
  char values[128]; /* LATENCY_DECODE_ENUM: words for 0, 1, ... */
  __u32 decoder;
  __u32 optional; /* 1: grouped by only when GroupBy names it */
  __u32 inner;    /* the count of values when each event has several; else 0 */
  __u32 reserved;
};

/*
 * One way to measure: all its programs, or the next rung. They are attached in
 * this order: ends before starts, so that no start is left without its end. A
 * map that a rung names is made for the rungs that name it only: others may be
 * on kernels that do not have its type. Words are separated by single spaces.
 */
struct latency_rung {
  char name[24];
  char programs[136]; /* names of functions */
  char maps[32];
};

/* A program of type perf_event: what it hangs on, on every CPU, period 1. */
struct latency_perf_event {
  char program[24];
  __u32 type;
  __u32 config;
};

/*
 * Programs in a section "uprobe", "uretprobe", "kprobe", "kretprobe", "fentry"
 * or "fexit" that names no function hang on the one that the configuration
 * names. Each function has an object of its own, with
 * latency_config.function set; all share the maps of this file's layouts, and
 * what else an object has, where starts are kept, is the function's own. A rung
 * with "uprobe" is for functions of programs and libraries, one with the others
 * for functions of the kernel.
 */
enum latency_target {
  LATENCY_TARGET_NONE,
  /* One, of libc or what `Binary` names: `symbol` or what `Symbol` names. */
  LATENCY_TARGET_LIBC_FUNCTION,
  LATENCY_TARGET_FUNCTIONS, /* those of the <Function> blocks */
  LATENCY_TARGETS,
};
#define LATENCY_FUNCTIONS 16

#define LATENCY_RUNGS 6
#define LATENCY_PERF_EVENTS 4

struct latency_description {
  __u32 abi_version;
  __u32 unit;
  __u32 has_task; /* events belong to a task: comm, Process and Pid apply */
  __u32 target;   /* enum latency_target */
  char name[16];
  char help[112];
  char warning[160]; /* what the log warns of when it starts; "": nothing */
  char symbol[32];   /* of LATENCY_TARGET_LIBC_FUNCTION */
  struct latency_label labels[LATENCY_OWN_LABELS];
  struct latency_rung rungs[LATENCY_RUNGS]; /* best first */
  struct latency_perf_event perf_events[LATENCY_PERF_EVENTS];
};

/* The logarithm to base 2, rounded down; 0 of 0. In steps: BPF has no
 * instruction that counts leading zeros. */
static inline __attribute__((always_inline)) __u32 latency_log2(__u64 value) {
  __u32 power = 0;
  if (value >> 32) {
    value >>= 32;
    power += 32;
  }
  if (value >> 16) {
    value >>= 16;
    power += 16;
  }
  if (value >> 8) {
    value >>= 8;
    power += 8;
  }
  if (value >> 4) {
    value >>= 4;
    power += 4;
  }
  if (value >> 2) {
    value >>= 2;
    power += 2;
  }
  return power + (__u32)(value >> 1);
}

/*
 * The index of the bucket that counts `value`.
 *
 * With u = value - 1 a bucket's values share the leading LATENCY_SUB_BITS + 1
 * bits of u, so that (2^k, 2^(k+1)] is one power of two.
 */
static inline __attribute__((always_inline)) __u32
latency_bucket_index(__u64 value) {
  if (value == 0)
    return 0;
  __u64 u = value - 1;
  if (u >> LATENCY_MAX_BITS)
    return LATENCY_OVERFLOW;
  __u32 shift = latency_log2(u >> LATENCY_SUB_BITS);
  return (shift << LATENCY_SUB_BITS) + (__u32)(u >> shift) + 1;
}

/*
 * The class of a value as a label: 0 for 0, then 1 + k for the values in
 * (2^(k-1), 2^k]; LATENCY_POWER_ABOVE for what is above 2^LATENCY_MAX_BITS.
 */
#define LATENCY_POWER_ABOVE (LATENCY_MAX_BITS + 2)
#define LATENCY_POWER_CLASSES (LATENCY_POWER_ABOVE + 1)

static inline __attribute__((always_inline)) __u32
latency_power_class(__u64 value) {
  if (value <= 1)
    return (__u32)value;
  if ((value - 1) >> LATENCY_MAX_BITS)
    return LATENCY_POWER_ABOVE;
  return latency_log2(value - 1) + 2;
}

#endif
