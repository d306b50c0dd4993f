/* SPDX-License-Identifier: MIT */
/* The maps that every probe's object has: their sizes, who shares them. */
#include "map_set.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Where all objects of one probe count. What else they have is each one's. */
static const char *const shared_maps[] = {
    "rows", "ledger", "groups", "group_keys", "free_groups", ".data.latency"};

static int set_entries(struct bpf_object *object, const char *name,
                       size_t value_size, uint64_t entries) {
  struct bpf_map *map = bpf_object__find_map_by_name(object, name);
  if (!map || bpf_map__value_size(map) != value_size || entries > UINT32_MAX)
    return -ENOEXEC;
  return bpf_map__set_max_entries(map, entries);
}

int map_set__size(struct bpf_object *object,
                  const struct latency_config *config, uint32_t groups) {
  const uint64_t rows = (uint64_t)(groups + 1) * config->inner * config->cpus;
  const uint32_t keys = groups ? groups : 1;
  int err = set_entries(object, "rows", sizeof(struct latency_row), rows);
  if (!err)
    err = set_entries(object, "ledger", sizeof(struct latency_ledger),
                      config->cpus);
  if (!err)
    err = set_entries(object, "group_keys", sizeof(struct latency_group),
                      groups + 1);
  if (!err)
    err = set_entries(object, "groups", sizeof(uint32_t), keys);
  if (!err)
    err = set_entries(object, "free_groups", sizeof(uint32_t), keys);
  if (err)
    return err;

  struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.latency");
  if (!map || bpf_map__value_size(map) != sizeof(*config))
    return -ENOEXEC;
  return bpf_map__set_initial_value(map, config, sizeof(*config));
}

static bool is_shared(const char *name) {
  for (size_t i = 0; i < sizeof(shared_maps) / sizeof(shared_maps[0]); i++)
    if (strcmp(shared_maps[i], name) == 0)
      return true;
  return false;
}

int map_set__share(struct bpf_object *object, const struct bpf_object *owner) {
  for (size_t i = 0; i < sizeof(shared_maps) / sizeof(shared_maps[0]); i++) {
    struct bpf_map *map = bpf_object__find_map_by_name(object, shared_maps[i]);
    const int fd = bpf_object__find_map_fd_by_name(owner, shared_maps[i]);
    const int err = map && fd >= 0 ? bpf_map__reuse_fd(map, fd) : -ENOEXEC;
    if (err)
      return err;
  }
  return 0;
}

/* Group 0 is "other". */
int map_set__fill(struct bpf_object *object, uint32_t groups) {
  const int fd = bpf_object__find_map_fd_by_name(object, "free_groups");
  for (uint32_t group = 1; group <= groups; group++) {
    int err = bpf_map_update_elem(fd, NULL, &group, BPF_ANY);
    if (err)
      return err;
  }
  return 0;
}

/* As the kernel counts it, in the map's fdinfo. */
static uint64_t map_memory(const struct bpf_map *map) {
  char path[64], line[128];
  unsigned long long bytes = 0;
  snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
  FILE *file = fopen(path, "re");
  if (!file)
    return 0;
  while (fgets(line, sizeof(line), file))
    if (sscanf(line, "memlock: %llu", &bytes) == 1)
      break;
  (void)fclose(file);
  return bytes;
}

uint64_t map_set__memory(const struct bpf_object *object, bool is_owner) {
  uint64_t bytes = 0;
  struct bpf_map *map;
  bpf_object__for_each_map(map, object) {
    if (is_owner || !is_shared(bpf_map__name(map)))
      bytes += map_memory(map);
  }
  return bytes;
}

uint64_t map_set__rows_bytes(const struct latency_config *config,
                             uint32_t groups) {
  return (uint64_t)(groups + 1) * config->inner * config->cpus *
         sizeof(struct latency_row);
}
