/* SPDX-License-Identifier: MIT */
/*
 * Reading a probe's rows. They are array maps in shared memory: the programs
 * count, this file looks, and no counter is ever cleared. Only the maxima
 * start anew with each interval, in two slots that take turns.
 */
#include "hist_map.h"

#include "cleanup.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A map's memory. */
struct window {
  void *memory;
  size_t size;
};

struct hist_map {
  uint32_t cpus, groups, inner;
  struct window rows, ledger, group_keys, control;
  struct hist_set **sets; /* in the order in which they were first seen */
  size_t sets_num;
  struct hist_set **set_of; /* by group * inner + phase; NULL: not seen yet */
};

CLEANUP_DEFINE(struct hist_map, hist_map__free)

static int map_window(struct bpf_object *object, const char *name, size_t size,
                      int protection, struct window *ret_window) {
  const struct bpf_map *map = bpf_object__find_map_by_name(object, name);
  if (!map)
    return -ENOENT;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size = (size + page - 1) / page * page;
  void *memory = mmap(NULL, size, protection, MAP_SHARED, bpf_map__fd(map), 0);
  if (memory == MAP_FAILED)
    return -errno;
  *ret_window = (struct window){memory, size};
  return 0;
}

static void unmap_window(struct window *window) {
  if (window->memory)
    (void)munmap(window->memory, window->size);
}

static struct latency_control *control(const struct hist_map *map) {
  return map->control.memory;
}

static struct latency_row *row(const struct hist_map *map, size_t set,
                               uint32_t cpu) {
  struct latency_row *rows = map->rows.memory;
  return &rows[set * map->cpus + cpu];
}

int hist_map__open(struct bpf_object *object, uint32_t cpus, uint32_t groups,
                   uint32_t inner, struct hist_map **ret_map) {
  _cleanup_(hist_map__freep) struct hist_map *map = calloc(1, sizeof(*map));
  if (!map)
    return -ENOMEM;
  map->cpus = cpus;
  map->groups = groups;
  map->inner = inner;

  const size_t sets = (size_t)(groups + 1) * inner;
  map->sets = calloc(sets, sizeof(*map->sets));
  map->set_of = calloc(sets, sizeof(*map->set_of));
  if (!map->sets || !map->set_of)
    return -ENOMEM;

  const struct {
    const char *name;
    size_t size;
    int protection;
    struct window *window;
  } windows[] = {
      {"rows", sets * cpus * sizeof(struct latency_row), PROT_READ | PROT_WRITE,
       &map->rows},
      {"ledger", cpus * sizeof(struct latency_ledger), PROT_READ, &map->ledger},
      {"group_keys", (groups + 1) * sizeof(struct latency_group), PROT_READ,
       &map->group_keys},
      {".data.latency", sizeof(struct latency_control), PROT_READ | PROT_WRITE,
       &map->control},
  };
  for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
    int status = map_window(object, windows[i].name, windows[i].size,
                            windows[i].protection, windows[i].window);
    if (status)
      return status;
  }
  *ret_map = TAKE_PTR(map);
  return 0;
}

/* Did this label set count anything? A row's sum would miss events of 0. */
static bool counted(const struct hist_map *map, size_t set) {
  for (uint32_t cpu = 0; cpu < map->cpus; cpu++) {
    const struct latency_row *r = row(map, set, cpu);
    if (__atomic_load_n(&r->sum, __ATOMIC_RELAXED) ||
        __atomic_load_n(&r->bucket[0], __ATOMIC_RELAXED))
      return true;
  }
  return false;
}

/* The label set of rows `index`, if it is one to be seen by now. */
static int find_set(struct hist_map *map, size_t index,
                    struct hist_set **ret_set) {
  const uint32_t group = index / map->inner;
  const struct latency_group *keys = map->group_keys.memory;
  *ret_set = map->set_of[index];
  if (*ret_set)
    return 0;
  if (map->groups) {
    if (group != LATENCY_OTHER &&
        !__atomic_load_n(&keys[group].used, __ATOMIC_ACQUIRE))
      return 0;
    if (!counted(map, index))
      return 0;
  }
  struct hist_set *set = calloc(1, sizeof(*set));
  if (!set)
    return -ENOMEM;
  set->key = keys[group].key;
  set->inner = index % map->inner;
  set->other = map->groups && group == LATENCY_OTHER;
  map->set_of[index] = map->sets[map->sets_num++] = *ret_set = set;
  return 0;
}

/*
 * Begins an interval: from here on the programs use the other maximum, which
 * was last in use an interval ago.
 */
static void flip_epoch(struct hist_map *map) {
  const uint32_t next = control(map)->epoch + 1;
  for (size_t index = 0; index < (size_t)(map->groups + 1) * map->inner;
       index++)
    if (map->set_of[index])
      for (uint32_t cpu = 0; cpu < map->cpus; cpu++)
        __atomic_store_n(&row(map, index, cpu)->max[next & 1], 0,
                         __ATOMIC_RELAXED);
  __atomic_store_n(&control(map)->epoch, next, __ATOMIC_SEQ_CST);
}

/*
 * The largest value of the interval. What came while the rows were read may
 * stand in either slot, counted or not yet, so what was counted decides: the
 * largest candidate in the highest bucket that counted something. When none is
 * there (an interrupt's event undid the store) the bucket's bound is all one
 * knows.
 */
static uint64_t interval_max(const struct hist_map *map, size_t index,
                             const struct hist *interval) {
  const int top = hist__top(interval);
  uint64_t max = 0;
  bool found = false;
  if (top < 0)
    return 0;
  for (uint32_t cpu = 0; cpu < map->cpus; cpu++)
    for (int slot = 0; slot < 2; slot++) {
      uint64_t value =
          __atomic_load_n(&row(map, index, cpu)->max[slot], __ATOMIC_RELAXED);
      if (latency_bucket_index(value) != (unsigned)top)
        continue;
      found = true;
      if (value > max)
        max = value;
    }
  if (found)
    return max;
  return top == LATENCY_OVERFLOW ? hist__lower(top) + 1 : hist__upper(top);
}

static void read_set(const struct hist_map *map, size_t index,
                     struct hist_set *set) {
  struct hist now = {0};
  for (uint32_t cpu = 0; cpu < map->cpus; cpu++)
    hist__add_row(&now, row(map, index, cpu));
  hist__diff(&now, &set->total, &set->interval);
  set->total = now;
  set->interval_max = interval_max(map, index, &set->interval);
}

int hist_map__read(struct hist_map *map) {
  int status = 0;
  flip_epoch(map);
  for (size_t index = 0; index < (size_t)(map->groups + 1) * map->inner;
       index++) {
    struct hist_set *set;
    int err = find_set(map, index, &set);
    if (err)
      status = err;
    else if (set)
      read_set(map, index, set);
  }
  return status;
}

size_t hist_map__sets(const struct hist_map *map) { return map->sets_num; }

const struct hist_set *hist_map__set(const struct hist_map *map, size_t i) {
  return map->sets[i];
}

uint64_t hist_map__lost(const struct hist_map *map, enum latency_lost reason) {
  const struct latency_ledger *lines = map->ledger.memory;
  uint64_t lost = 0;
  for (uint32_t cpu = 0; cpu < map->cpus; cpu++)
    lost += __atomic_load_n(&lines[cpu].lost[reason], __ATOMIC_RELAXED);
  return lost;
}

void hist_map__free(struct hist_map *map) {
  if (!map)
    return;
  unmap_window(&map->rows);
  unmap_window(&map->ledger);
  unmap_window(&map->group_keys);
  unmap_window(&map->control);
  for (size_t i = 0; map->sets && i < map->sets_num; i++)
    free(map->sets[i]);
  free(map->sets);
  free(map->set_of);
  free(map);
}
