/* SPDX-License-Identifier: MIT */
/*
 * What every probe is made of: its maps, the filters, the way from a label set
 * to its row, and the recording of one event. A probe includes this once,
 * describes itself with LATENCY_PROBE, and calls, per event,
 *
 *   latency_wants()   is this task asked for?         else latency_lose()
 *   latency_group()   label values -> group           once per event
 *   latency_record()  one value into one row          once per inner label
 *
 * Nothing here sends an event to user space, formats or decides policy.
 */
#ifndef LATENCY_BPF_H
#define LATENCY_BPF_H

#include "kernel.bpf.h"

#include "latency_abi.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Tracing through BTF, and the description; in each probe's file, once. */
#define LATENCY_PROBE                                                          \
  const struct latency_description latency_description                         \
      __attribute__((section(LATENCY_SECTION), used))

/* The plugin sets them before the load; see latency_abi.h. */
const volatile struct latency_config latency_config SEC(".rodata.latency") = {
    .cpus = 1, .inner = 1};

struct latency_control latency_control SEC(".data.latency") = {};

/*
 * Rows and ledgers are arrays that user space maps into memory: a read costs
 * no system call. Each CPU has rows of its own. Sizes are set by the plugin.
 */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct latency_row);
} rows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct latency_ledger);
} ledger SEC(".maps");

/* Which group a label set has; what is in `groups` is settled. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);
  __type(key, struct latency_key);
  __type(value, __u32);
} groups SEC(".maps");

/* Which label set a group has, for user space. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct latency_group);
} group_keys SEC(".maps");

/* Groups that no label set has yet; filled by the plugin. */
struct {
  __uint(type, BPF_MAP_TYPE_QUEUE);
  __uint(max_entries, 1);
  __type(value, __u32);
} free_groups SEC(".maps");

static __always_inline void latency_lose(enum latency_lost reason) {
  __u32 cpu = bpf_get_smp_processor_id();
  struct latency_ledger *line = bpf_map_lookup_elem(&ledger, &cpu);
  if (line)
    __sync_fetch_and_add(&line->lost[reason], 1);
}

/* The 16 bytes of a task's name, zero after the first NUL. */
static __always_inline void latency_comm(struct task_struct *task,
                                         char comm[LATENCY_COMM_LEN]) {
  __builtin_memset(comm, 0, LATENCY_COMM_LEN);
  bpf_probe_read_kernel_str(comm, LATENCY_COMM_LEN, &task->comm);
}

static __always_inline bool latency_wants_pid(__u32 tgid) {
  bool found = !latency_config.pids;
#pragma unroll
  for (__u32 i = 0; i < LATENCY_FILTER_MAX; i++)
    if (i < latency_config.pids && latency_config.pid[i] == tgid)
      found = true;
  return found;
}

union latency_comm {
  char text[LATENCY_COMM_LEN];
  __u64 word[LATENCY_COMM_LEN / 8];
};

static __always_inline bool latency_wants_comm(const union latency_comm *comm) {
  bool found = false;
#pragma unroll
  for (__u32 i = 0; i < LATENCY_FILTER_MAX; i++)
    if (i < latency_config.comms &&
        latency_config.comm[i][0] == comm->word[0] &&
        latency_config.comm[i][1] == comm->word[1])
      found = true;
  return found;
}

/*
 * Is this task one of those that Process and Pid name? The task is the one
 * that waits or asks, which need not be the one that runs now. Without such
 * filters nothing of this is left after the verifier.
 */
static __always_inline bool latency_wants(struct task_struct *task) {
  union latency_comm comm;
  if (latency_config.pids && !latency_wants_pid(task->tgid))
    return false;
  if (!latency_config.comms)
    return true;
  latency_comm(task, comm.text);
  return latency_wants_comm(&comm);
}

/* The same of the task that runs now, on any kernel. */
static __always_inline bool latency_wants_current(void) {
  union latency_comm comm = {};
  if (latency_config.pids &&
      !latency_wants_pid(bpf_get_current_pid_tgid() >> 32))
    return false;
  if (!latency_config.comms)
    return true;
  bpf_get_current_comm(comm.text, sizeof(comm.text));
  return latency_wants_comm(&comm);
}

/* Is this value of the label that has a filter option asked for? */
static __always_inline bool latency_wants_value(__u32 value) {
  if (!latency_config.values)
    return true;
  if (value >= LATENCY_FILTER_RANGE)
    return false;
  return latency_config.value[value / 64] >> (value % 64) & 1;
}

/* How often to look again for what another CPU is about to make known. */
#define LATENCY_GROUP_RETRIES 64

/*
 * A group for a label set that has none. The free group's key is written
 * before the hash, whose NOEXIST lets one CPU win, makes it known; a loser
 * gives its group back and takes the winner's. One that finds no free group
 * may be beside another CPU that takes the last one for the same label set, so
 * it waits for that. Then the event belongs to "other", and the flag keeps
 * later ones from trying.
 */
static __noinline __u32 latency_new_group(const struct latency_key *key) {
  __u32 group = LATENCY_OTHER;
  __u32 *found;
  if (!key || latency_control.groups_full)
    return LATENCY_OTHER;
  if (bpf_map_pop_elem(&free_groups, &group)) {
    for (int i = 0; i < LATENCY_GROUP_RETRIES; i++) {
      found = bpf_map_lookup_elem(&groups, key);
      if (found)
        return *found;
    }
    latency_control.groups_full = 1;
    return LATENCY_OTHER;
  }
  struct latency_group *entry = bpf_map_lookup_elem(&group_keys, &group);
  if (!entry)
    return LATENCY_OTHER;
  entry->key = *key;
  if (bpf_map_update_elem(&groups, key, &group, BPF_NOEXIST) == 0) {
    entry->used = 1;
    return group;
  }
  bpf_map_push_elem(&free_groups, &group, 0);
  latency_control.groups_full = 0;
  found = bpf_map_lookup_elem(&groups, key);
  return found ? *found : LATENCY_OTHER;
}

/*
 * The group of an event: its own labels' values, of which those count that are
 * grouped by, and the name of its task (NULL: it has none). The inner label is
 * not among them.
 */
static __always_inline __u32 latency_group(const char *comm, __u32 own0,
                                           __u32 own1) {
  const __u32 by = latency_config.group_by;
  if (!by)
    return 0;
  struct latency_key key = {};
  if (by & 1)
    key.own[0] = own0;
  if (by & 2)
    key.own[1] = own1;
  if (comm && by & LATENCY_GROUP_BY_COMM)
    __builtin_memcpy(key.comm, comm, LATENCY_COMM_LEN);
  __u32 *found = bpf_map_lookup_elem(&groups, &key);
  return found ? *found : latency_new_group(&key);
}

/* The same for an event that belongs to `task`. */
static __always_inline __u32 latency_group_of(struct task_struct *task,
                                              __u32 own0, __u32 own1) {
  char comm[LATENCY_COMM_LEN] = {};
  if (latency_config.group_by & LATENCY_GROUP_BY_COMM)
    latency_comm(task, comm);
  return latency_group(comm, own0, own1);
}

/* The same for one that belongs to the task that runs now. */
static __always_inline __u32 latency_group_of_current(__u32 own0, __u32 own1) {
  char comm[LATENCY_COMM_LEN] = {};
  if (latency_config.group_by & LATENCY_GROUP_BY_COMM)
    bpf_get_current_comm(comm, sizeof(comm));
  return latency_group(comm, own0, own1);
}

/*
 * Counts one value. Atomic though the row is this CPU's: an interrupt's or,
 * since programs can be preempted, another task's event may come in between.
 * The maximum is a plain store that such an event may undo: it is corrected
 * in user space, by the highest bucket that counts something.
 */
static __always_inline void latency_record(__u32 group, __u32 inner,
                                           __u64 value) {
  __u32 cpu = bpf_get_smp_processor_id();
  __u32 row_index =
      (group * latency_config.inner + inner) * latency_config.cpus + cpu;
  struct latency_row *row = bpf_map_lookup_elem(&rows, &row_index);
  if (!row) {
    latency_lose(LATENCY_LOST_MAP_FULL);
    return;
  }
  __u32 index = latency_bucket_index(value);
  if (index > LATENCY_OVERFLOW)
    index = LATENCY_OVERFLOW; /* for the verifier */
  __sync_fetch_and_add(&row->bucket[index], 1);
  __sync_fetch_and_add(&row->sum, value);
  __u64 *max = &row->max[latency_control.epoch & 1];
  if (value > *max)
    *max = value;
}

/* The same for a span of time; one that ends before it began is not counted
 * but lost: A broken clock, or two CPUs' clocks apart. */
static __always_inline void latency_record_span(__u32 group, __u32 inner,
                                                __u64 start, __u64 end) {
  if ((__s64)(end - start) < 0)
    latency_lose(LATENCY_LOST_NEGATIVE);
  else
    latency_record(group, inner, end - start);
}

#endif
