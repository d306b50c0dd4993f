/* SPDX-License-Identifier: MIT */
/*
 * All probes together. Each stands for itself: what one lacks is logged once,
 * shown as its `up` series, and is no matter to the others.
 */
#include "probe_set.h"

#include "cleanup.h"
#include "description.h"
#include "plan.h"
#include "probe.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>

/* One probe of the configuration, running or off. */
struct member {
  probe_set_log_fn *log;
  char name[CONFIG_NAME_LEN];
  struct latency_description desc;
  struct plan plan;
  struct probe *probe;                /* NULL: off */
  char (*instances)[METRIC_NAME_LEN]; /* of the label sets, by their number */
  size_t instances_num;
  bool out_of_memory; /* said so already */
};

struct probe_set {
  probe_set_log_fn *log;
  struct member *members;
  size_t members_num;
};

CLEANUP_DEFINE(struct probe_set, probe_set__free)

static const char *const lost_names[] = {
    [LATENCY_LOST_FILTERED] = "lost-filtered",
    [LATENCY_LOST_UNMATCHED] = "lost-unmatched",
    [LATENCY_LOST_NEGATIVE] = "lost-negative",
    [LATENCY_LOST_MAP_FULL] = "lost-map_full",
    [LATENCY_LOST_BUSY] = "lost-busy",
};
_Static_assert(sizeof(lost_names) / sizeof(lost_names[0]) ==
                   LATENCY_LOST_REASONS,
               "a reason without a name");

/* From the object file NAME.bpf.o in ProbeDir. */
static int read_description(const struct config *conf, const char *name,
                            struct latency_description *ret_desc,
                            struct description_image *ret_image, char *err,
                            size_t err_size) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s.bpf.o", conf->probe_dir, name);
  return description__read(path, ret_desc, ret_image, err, err_size);
}

/* One that was configured must be there; the default need not. */
static int check_probe_dir(const struct config *conf, char *err,
                           size_t err_size) {
  struct stat st;
  if (!conf->probe_dir_set)
    return 0;
  int why = stat(conf->probe_dir, &st) ? errno : 0;
  if (!why && !S_ISDIR(st.st_mode))
    why = ENOTDIR;
  if (!why)
    return 0;
  snprintf(err, err_size, "<Plugin ebpf_latency>: ProbeDir \"%s\": %s",
           conf->probe_dir, strerror(why));
  return -EINVAL;
}

int probe_set__check(const struct config *conf, char *err, size_t err_size) {
  int status = check_probe_dir(conf, err, err_size);
  if (status)
    return status;
  for (size_t i = 0; conf->probes_named && i < conf->probes_num; i++) {
    const struct config_probe *probe = &conf->probes[i];
    struct latency_description desc;
    struct plan plan;
    char why[CONFIG_ERROR_LEN];
    status = read_description(conf, probe->name, &desc, NULL, why, sizeof(why));
    if (status) {
      snprintf(err, err_size,
               "<Plugin ebpf_latency>, <Probe \"%s\">: no such probe: %s",
               probe->name, why);
      return -EINVAL;
    }
    status = plan__make(conf, probe, &desc, &plan, err, err_size);
    if (status)
      return status;
  }
  return 0;
}

__attribute__((format(printf, 3, 4))) static void
say(const struct probe_set *set, int severity, const char *format, ...) {
  char message[PROBE_ERROR_LEN + 64];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof(message), format, args);
  va_end(args);
  set->log(severity, message);
}

/* A probe_report_fn: what becomes of a function of a member's. */
static void report(void *arg, int severity, const char *text) {
  const struct member *member = arg;
  char message[PROBE_ERROR_LEN + 256];
  snprintf(message, sizeof(message), "%s: %s", member->name, text);
  member->log(severity, message);
}

/* 0, or -errno and why the probe is off. */
static int start_member(const struct config *conf,
                        const struct config_probe *probe, struct member *member,
                        char *why, size_t why_size) {
  struct description_image image = {NULL, 0};
  int err =
      read_description(conf, probe->name, &member->desc, &image, why, why_size);
  _cleanup_free_ void *bytes = image.bytes;
  if (!err)
    err = plan__make(conf, probe, &member->desc, &member->plan, why, why_size);
  if (err)
    return err;
  const size_t sets =
      (size_t)(member->plan.groups + 1) * member->plan.kernel.inner;
  member->instances = calloc(sets, sizeof(*member->instances));
  if (!member->instances) {
    snprintf(why, why_size, "out of memory");
    return -ENOMEM;
  }
  const struct probe_order order = {
      .image = &image,
      .desc = &member->desc,
      .config = member->plan.kernel,
      .groups = member->plan.groups,
      .rung = probe->rung,
      .targets = member->plan.targets,
      .targets_num = member->plan.targets_num,
      .report = report,
      .report_arg = member,
  };
  return probe__start(&order, &member->probe, why, why_size);
}

/* One line in which rung it measures; a probe on functions has said already
 * which of them are off. */
static void tell_start(const struct probe_set *set,
                       const struct member *member) {
  const struct probe *probe = member->probe;
  char functions[64] = "";
  if (!probe__is_up(probe)) {
    if (member->desc.target == LATENCY_TARGET_FUNCTIONS)
      say(set, LOG_ERR, "%s: off: none of its functions can be measured",
          member->name);
    return;
  }
  if (member->desc.target == LATENCY_TARGET_FUNCTIONS)
    snprintf(functions, sizeof(functions), ", %zu of %zu functions",
             probe__functions(probe), member->plan.targets_num);
  say(set, LOG_INFO, "%s: measuring, rung %s%s, %llu KiB of kernel memory",
      member->name, probe__rung(probe), functions,
      (unsigned long long)probe__memory(probe) / 1024);
  if (member->desc.warning[0])
    say(set, LOG_WARNING, "%s: %s", member->name, member->desc.warning);
}

int probe_set__start(const struct config *conf, probe_set_log_fn *log,
                     struct probe_set **ret_set) {
  _cleanup_(probe_set__freep) struct probe_set *set = calloc(1, sizeof(*set));
  if (!set)
    return -ENOMEM;
  set->log = log;
  set->members = calloc(conf->probes_num, sizeof(*set->members));
  if (!set->members)
    return -ENOMEM;

  for (size_t i = 0; i < conf->probes_num; i++) {
    struct member *member = &set->members[set->members_num++];
    char why[PROBE_ERROR_LEN];
    member->log = log;
    snprintf(member->name, sizeof(member->name), "%s", conf->probes[i].name);
    if (start_member(conf, &conf->probes[i], member, why, sizeof(why)))
      say(set, LOG_ERR, "%s: off: %s", member->name, why);
    else
      tell_start(set, member);
  }
  *ret_set = TAKE_PTR(set);
  return 0;
}

static bool is_taken(const struct member *member, const char *name) {
  for (size_t i = 0; i < member->instances_num; i++)
    if (strcmp(member->instances[i], name) == 0)
      return true;
  return false;
}

/*
 * The plugin_instance of a label set, made when it is first seen. Two label
 * sets never share one: should a hash ever fail at that, a number tells.
 */
static const char *instance_of(struct member *member, size_t i) {
  if (i < member->instances_num)
    return member->instances[i];
  const struct hist_set *set = hist_map__set(probe__hist_map(member->probe), i);
  char *name = member->instances[i];
  plan__instance(&member->plan, &member->desc, &set->key, set->inner,
                 set->other, name);
  for (unsigned again = 2; is_taken(member, name); again++) {
    char tail[16];
    const int len = snprintf(tail, sizeof(tail), "-%u", again);
    const size_t keep = strnlen(name, METRIC_NAME_LEN - 1 - len);
    memcpy(name + keep, tail, len + 1);
  }
  member->instances_num++;
  return name;
}

static void read_member(struct probe_set *set, struct member *member,
                        metric_fn *fn, void *arg) {
  struct hist_map *map = probe__hist_map(member->probe);
  const int err = hist_map__read(map);
  if (err && !member->out_of_memory)
    say(set, LOG_WARNING, "%s: out of memory, some label sets have no series",
        member->name);
  member->out_of_memory = err != 0;

  for (size_t i = 0; i < hist_map__sets(map); i++) {
    const struct hist_set *hist = hist_map__set(map, i);
    metric__histogram(instance_of(member, i), &member->plan.options,
                      &hist->total, &hist->interval, hist->interval_max, fn,
                      arg);
  }
  for (int reason = 0; reason < LATENCY_LOST_REASONS; reason++)
    metric__derive(member->name, lost_names[reason],
                   hist_map__lost(map, reason), fn, arg);
  metric__derive(member->name, "lost-missed", probe__missed(member->probe), fn,
                 arg);
}

void probe_set__read(struct probe_set *set, metric_fn *fn, void *arg) {
  for (size_t i = 0; i < set->members_num; i++) {
    struct member *member = &set->members[i];
    if (member->probe)
      probe__follow(member->probe);
    const bool is_up = member->probe && probe__is_up(member->probe);
    if (is_up)
      read_member(set, member, fn, arg);
    metric__gauge(member->name, "up", is_up, fn, arg);
  }
}

void probe_set__free(struct probe_set *set) {
  if (!set)
    return;
  for (size_t i = 0; i < set->members_num; i++) {
    probe__free(set->members[i].probe);
    free(set->members[i].instances);
  }
  free(set->members);
  free(set);
}
