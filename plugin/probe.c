/* SPDX-License-Identifier: MIT */
/*
 * A probe's life in the kernel. Everything that differs between probes comes
 * from the description in the object; this file knows none by name.
 */
#include "probe.h"

#include "cleanup.h"
#include "description.h"
#include "link_set.h"
#include "privilege.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one probe's rows may take of the kernel's memory: a slip of MaxGroups
 * on a machine with many CPUs must not bring it down. */
#define ROWS_BYTES_MAX (1ull << 30)

struct probe {
  struct bpf_object *object;
  struct hist_map *hist_map;
  struct link_set links;
  char rung[sizeof(((struct latency_rung *)0)->name)];
};

CLEANUP_DEFINE(struct probe, probe__free)

static probe_log_fn *log_message;

/* libbpf's first complaint since a rung was begun that tells a reason. */
static char complaint[160];

/* What libbpf says of any EPERM whatever. Since 5.11 the limit on locked
 * memory has no part in it. */
static bool is_misleading(const char *line) {
  return strstr(line, "ulimit -l") || strstr(line, "RLIMIT_MEMLOCK");
}

/* libbpf's messages, line by line; the verifier's log, which comes in between,
 * is for debugging. */
__attribute__((format(printf, 2, 0))) static int
print_libbpf(enum libbpf_print_level level, const char *format, va_list args) {
  static const char prefix[] = "libbpf: ";
  char text[8192];
  char *rest = text;
  vsnprintf(text, sizeof(text), format, args);
  for (char *line; (line = strsep(&rest, "\n"));) {
    if (!*line || is_misleading(line))
      continue;
    const bool warning =
        level == LIBBPF_WARN && strncmp(line, prefix, sizeof(prefix) - 1) == 0;
    if (warning && !complaint[0] && !strstr(line, "failed to load object"))
      snprintf(complaint, sizeof(complaint), "%s", line + sizeof(prefix) - 1);
    if (log_message)
      log_message(warning, line);
  }
  return 0;
}

void probe__set_log(probe_log_fn *fn) {
  log_message = fn;
  libbpf_set_print(print_libbpf);
}

/* Is `name` one of the words? */
static bool has_word(const char *words, const char *name) {
  const size_t len = strlen(name);
  for (const char *at = words; (at = strstr(at, name)); at += len)
    if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
      return true;
  return false;
}

static int set_entries(struct bpf_object *object, const char *name,
                       size_t value_size, uint64_t entries) {
  struct bpf_map *map = bpf_object__find_map_by_name(object, name);
  if (!map || bpf_map__value_size(map) != value_size || entries > UINT32_MAX)
    return -ENOEXEC;
  return bpf_map__set_max_entries(map, entries);
}

/* Sizes and constants, which must stand before the load. */
static int set_up(struct bpf_object *object,
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

/* Group 0 is "other"; the programs take the rest from a queue. */
static int fill_free_groups(struct bpf_object *object, uint32_t groups) {
  const int fd = bpf_object__find_map_fd_by_name(object, "free_groups");
  for (uint32_t group = 1; group <= groups; group++) {
    int err = bpf_map_update_elem(fd, NULL, &group, BPF_ANY);
    if (err)
      return err;
  }
  return 0;
}

/* Says what failed, in the middle of a sentence, and libbpf's word for it. */
__attribute__((format(printf, 4, 5))) static int
fail(char *why, size_t size, int err, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int len = vsnprintf(why, size, format, args);
  va_end(args);
  if (len >= 0 && (size_t)len < size)
    snprintf(why + len, size - len, ": %s%s%s%s", strerror(-err),
             complaint[0] ? " (" : "", complaint, complaint[0] ? ")" : "");
  return err;
}

/* In the order of the description. */
static int attach_rung(struct probe *probe, const struct probe_order *order,
                       const struct latency_rung *rung, char *why,
                       size_t why_size) {
  char programs[sizeof(rung->programs)];
  char *rest = programs;
  snprintf(programs, sizeof(programs), "%s", rung->programs);
  for (char *name; (name = strsep(&rest, " "));) {
    const struct bpf_program *program =
        bpf_object__find_program_by_name(probe->object, name);
    const int err = program ? link_set__attach(&probe->links, program,
                                               order->desc, order->config.cpus)
                            : -ENOEXEC;
    if (err)
      return fail(why, why_size, err, "cannot attach %s", name);
  }
  return 0;
}

/* Those that other rungs name, and this one does not, are not made. */
static void pick_maps(struct bpf_object *object,
                      const struct latency_description *desc,
                      const struct latency_rung *rung) {
  struct bpf_map *map;
  bpf_object__for_each_map(map, object) {
    const char *name = bpf_map__name(map);
    for (size_t i = 0; i < LATENCY_RUNGS; i++)
      if (has_word(desc->rungs[i].maps, name) && !has_word(rung->maps, name))
        (void)bpf_map__set_autocreate(map, false);
  }
}

static int start_rung(const struct probe_order *order,
                      const struct latency_rung *rung, struct probe **ret_probe,
                      char *why, size_t why_size) {
  const struct latency_config *config = &order->config;
  _cleanup_(probe__freep) struct probe *probe = calloc(1, sizeof(*probe));
  if (!probe)
    return fail(why, why_size, -ENOMEM, "cannot start");
  snprintf(probe->rung, sizeof(probe->rung), "%s", rung->name);
  complaint[0] = '\0';

  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = order->desc->name);
  probe->object =
      bpf_object__open_mem(order->image->bytes, order->image->size, &options);
  if (!probe->object)
    return fail(why, why_size, -errno, "cannot open it");
  struct bpf_program *program;
  bpf_object__for_each_program(program, probe->object) {
    (void)bpf_program__set_autoload(
        program, has_word(rung->programs, bpf_program__name(program)));
  }
  pick_maps(probe->object, order->desc, rung);
  int err = set_up(probe->object, config, order->groups);
  if (err)
    return fail(why, why_size, err, "it does not have the maps of a probe");
  err = bpf_object__load(probe->object);
  if (err)
    return fail(why, why_size, err, "cannot load");
  err = fill_free_groups(probe->object, order->groups);
  if (!err)
    err = hist_map__open(probe->object, config->cpus, order->groups,
                         config->inner, &probe->hist_map);
  if (err)
    return fail(why, why_size, err, "cannot map its rows");

  err = attach_rung(probe, order, rung, why, why_size);
  if (err)
    return err;
  *ret_probe = TAKE_PTR(probe);
  return 0;
}

/* Tries the rungs; what failed, and what is missing, goes to `err`. */
static int climb(const struct probe_order *order, struct probe **ret_probe,
                 char *err, size_t err_size) {
  const struct latency_rung *rungs = order->desc->rungs;
  int status = -ENOEXEC;
  size_t len = 0;
  for (size_t i = 0; i < LATENCY_RUNGS && rungs[i].name[0]; i++) {
    char why[320];
    if (order->rung[0] && strcmp(order->rung, rungs[i].name) != 0)
      continue;
    status = start_rung(order, &rungs[i], ret_probe, why, sizeof(why));
    if (status == 0)
      return 0;
    if (len < err_size)
      len += snprintf(err + len, err_size - len, "%srung %s: %s",
                      len ? "; " : "", rungs[i].name, why);
  }
  char missing[256];
  privilege__missing(missing, sizeof(missing));
  if (missing[0] && len < err_size)
    snprintf(err + len, err_size - len, " (%s)", missing);
  return status;
}

static uint64_t rows_bytes(const struct probe_order *order) {
  return (uint64_t)(order->groups + 1) * order->config.inner *
         order->config.cpus * sizeof(struct latency_row);
}

int probe__start(const struct probe_order *order, struct probe **ret_probe,
                 char *err, size_t err_size) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 0)
    return fail(err, err_size, cpus, "cannot count the CPUs");
  struct probe_order sized = *order;
  sized.config.cpus = cpus;
  if (rows_bytes(&sized) > ROWS_BYTES_MAX) {
    snprintf(err, err_size,
             "%u groups on %d CPUs would take %llu MiB of kernel memory, more "
             "than %llu: lower MaxGroups",
             order->groups, cpus, (unsigned long long)rows_bytes(&sized) >> 20,
             ROWS_BYTES_MAX >> 20);
    return -ENOMEM;
  }
  return climb(&sized, ret_probe, err, err_size);
}

const char *probe__rung(const struct probe *probe) { return probe->rung; }

struct hist_map *probe__hist_map(struct probe *probe) {
  return probe->hist_map;
}

uint64_t probe__missed(const struct probe *probe) {
  uint64_t missed = 0;
  struct bpf_program *program;
  bpf_object__for_each_program(program, probe->object) {
    struct bpf_prog_info info = {0};
    __u32 size = sizeof(info);
    const int fd = bpf_program__fd(program);
    if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
      missed += info.recursion_misses;
  }
  return missed;
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

uint64_t probe__memory(const struct probe *probe) {
  uint64_t bytes = 0;
  struct bpf_map *map;
  bpf_object__for_each_map(map, probe->object) { bytes += map_memory(map); }
  return bytes;
}

void probe__free(struct probe *probe) {
  if (!probe)
    return;
  link_set__free(&probe->links);
  hist_map__free(probe->hist_map);
  bpf_object__close(probe->object);
  free(probe);
}
