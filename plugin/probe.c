/* SPDX-License-Identifier: MIT */
/*
 * A probe's life in the kernel: which of its rungs, for which of its functions.
 * Everything that differs between probes comes from the description in the
 * object; this file knows none by name.
 */
#include "probe.h"

#include "cleanup.h"
#include "description.h"
#include "libbpf_log.h"
#include "map_set.h"
#include "privilege.h"
#include "rung.h"
#include "target.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

/* What one probe's rows may take of the kernel's memory: a slip of MaxGroups
 * on a machine with many CPUs must not bring it down. */
#define ROWS_BYTES_MAX (1ull << 30)

/* What is measured: all that the programs name, or one function. */
struct part {
  const struct plan_target *target; /* NULL: the programs name it */
  struct target_file file;          /* the last that was tried */
  struct rung *rung;                /* NULL: off */
};

struct probe {
  struct probe_order order;
  struct description_image image; /* its own copy, with targets only */
  struct part parts[LATENCY_FUNCTIONS];
  size_t parts_num;
  struct rung *sharer; /* the one that was first: the others share its rows */
  struct hist_map *hist_map;
  char rungs[LATENCY_RUNGS * sizeof(((struct latency_rung *)0)->name)];
};

CLEANUP_DEFINE(struct probe, probe__free)
CLEANUP_DEFINE(struct rung, rung__free)

void probe__set_log(probe_log_fn *fn) { libbpf_log__set(fn); }

/* "function send: MESSAGE", or only that for a probe with one. */
__attribute__((format(printf, 4, 5))) static void
report(const struct probe *probe, const struct part *part, int severity,
       const char *format, ...) {
  char message[PROBE_ERROR_LEN + 128];
  const char *name = part->target->name;
  const int len =
      *name ? snprintf(message, sizeof(message), "function %s: ", name) : 0;
  va_list args;
  va_start(args, format);
  vsnprintf(message + len, sizeof(message) - len, format, args);
  va_end(args);
  probe->order.report(probe->order.report_arg, severity, message);
}

static void remember_rung(struct probe *probe, const char *name) {
  const size_t len = strlen(probe->rungs);
  if (!strstr(probe->rungs, name))
    snprintf(probe->rungs + len, sizeof(probe->rungs) - len, "%s%s",
             len ? ", " : "", name);
}

/* Tries the rungs; what failed, and what is missing, goes to `err`. */
static int climb(struct probe *probe, const struct rung_order *order,
                 struct rung **ret_rung, char *err, size_t err_size) {
  const struct latency_rung *rungs = order->desc->rungs;
  const char *forced = probe->order.rung;
  int status = -ENOTSUP;
  size_t len = 0;
  for (size_t i = 0; i < LATENCY_RUNGS && rungs[i].name[0]; i++) {
    char why[320];
    if (forced[0] && strcmp(forced, rungs[i].name) != 0)
      continue;
    const int ret = rung__start(order, &rungs[i], ret_rung, why, sizeof(why));
    if (ret == 0)
      return 0;
    if (ret == -ENOTSUP && !why[0])
      continue;
    status = ret;
    if (len < err_size)
      len += snprintf(err + len, err_size - len, "%srung %s: %s",
                      len ? "; " : "", rungs[i].name, why);
  }
  char missing[256];
  privilege__missing(missing, sizeof(missing));
  if (!len)
    snprintf(err, err_size, "%s%s%s is not for functions of %s",
             forced[0] ? "rung " : "its rungs", forced,
             forced[0] ? "" : ": none of them",
             order->function && order->function->path ? "a file"
                                                      : "the kernel");
  else if (missing[0] && len < err_size)
    snprintf(err + len, err_size - len, " (%s)", missing);
  return status;
}

/* Loads a rung for a part, or lets its rung follow to another file. */
static int attach(struct probe *probe, struct part *part,
                  const struct link_function *function, bool same_file,
                  char *err, size_t err_size) {
  struct rung_order order = {
      .image = probe->order.image,
      .desc = probe->order.desc,
      .config = probe->order.config,
      .groups = probe->order.groups,
      .function = function,
      .sharer = probe->sharer,
  };
  order.config.function = part - probe->parts;
  if (part->rung)
    return rung__follow(part->rung, &order, same_file, err, err_size);

  _cleanup_(rung__freep) struct rung *rung = NULL;
  int status = climb(probe, &order, &rung, err, err_size);
  if (status)
    return status;
  if (!probe->sharer) {
    status = hist_map__open(rung->object, order.config.cpus, order.groups,
                            order.config.inner, &probe->hist_map);
    if (status) {
      snprintf(err, err_size, "cannot map its rows: %s", strerror(-status));
      return status;
    }
    probe->sharer = rung;
  }
  remember_rung(probe, rung->says->name);
  part->rung = TAKE_PTR(rung);
  return 0;
}

/* The file is kept open over the attachment, and the kernel gets it by its
 * descriptor: an offset in another file would be in the middle of anything. */
static int attach_target(struct probe *probe, struct part *part, char *err,
                         size_t err_size) {
  const struct target_file before = part->file;
  struct link_function function = {.symbol = part->target->symbol, .pid = -1};
  if (part->target->in_kernel)
    return attach(probe, part, &function, false, err, err_size);

  int fd;
  char path[64];
  int status = target__open(part->target, &part->file, &fd, &function.offset,
                            err, err_size);
  if (status)
    return status;
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  function.path = path;
  if (probe->order.config.pids == 1)
    function.pid = (int)probe->order.config.pid[0];
  const bool same_file =
      part->file.dev == before.dev && part->file.ino == before.ino;
  status = attach(probe, part, &function, same_file, err, err_size);
  (void)close(fd);
  return status;
}

static void start_target(struct probe *probe, struct part *part) {
  char why[PROBE_ERROR_LEN];
  if (attach_target(probe, part, why, sizeof(why)))
    report(probe, part, LOG_ERR, "off: %s", why);
  else
    report(probe, part, LOG_INFO, "on %s in %s, rung %s", part->target->symbol,
           part->target->in_kernel ? "the kernel" : target__path(part->target),
           part->rung->says->name);
}

/* The old links stay when the new file is no good: programs run with it. */
static void follow_target(struct probe *probe, struct part *part) {
  char why[PROBE_ERROR_LEN];
  const char *path = target__path(part->target);
  if (attach_target(probe, part, why, sizeof(why)))
    report(probe, part, LOG_WARNING,
           "%s was replaced, and is not measured in programs that start from "
           "now on: %s",
           path, why);
  else
    report(probe, part, LOG_INFO, "%s was replaced, attached to the new file",
           path);
}

void probe__follow(struct probe *probe) {
  static const struct target_file none;
  for (size_t i = 0; i < probe->parts_num; i++) {
    struct part *part = &probe->parts[i];
    if (!part->target || part->target->in_kernel)
      continue;
    const struct target_file now = target__look(target__path(part->target));
    if (target__same(&now, &none) || target__same(&now, &part->file))
      continue;
    if (part->rung)
      follow_target(probe, part);
    else
      start_target(probe, part);
  }
}

static int check_size(const struct probe_order *order, char *err,
                      size_t err_size) {
  const uint64_t bytes = map_set__rows_bytes(&order->config, order->groups);
  if (bytes <= ROWS_BYTES_MAX)
    return 0;
  snprintf(err, err_size,
           "%u groups on %u CPUs would take %llu MiB of kernel memory, more "
           "than %llu: lower MaxGroups",
           order->groups, order->config.cpus, (unsigned long long)bytes >> 20,
           ROWS_BYTES_MAX >> 20);
  return -ENOMEM;
}

/* A function may be attached later, when the object file is no longer there. */
static int keep_image(struct probe *probe) {
  const struct description_image *image = probe->order.image;
  probe->image = (struct description_image){malloc(image->size), image->size};
  if (!probe->image.bytes)
    return -ENOMEM;
  memcpy(probe->image.bytes, image->bytes, image->size);
  probe->order.image = &probe->image;
  return 0;
}

static int start_targets(struct probe *probe) {
  const struct probe_order *order = &probe->order;
  const int err = keep_image(probe);
  for (size_t i = 0; !err && i < order->targets_num; i++) {
    struct part *part = &probe->parts[probe->parts_num++];
    part->target = &order->targets[i];
    start_target(probe, part);
  }
  return err;
}

int probe__start(const struct probe_order *order, struct probe **ret_probe,
                 char *err, size_t err_size) {
  _cleanup_(probe__freep) struct probe *probe = calloc(1, sizeof(*probe));
  const int cpus = libbpf_num_possible_cpus();
  int status = cpus < 0 ? cpus : probe ? 0 : -ENOMEM;
  if (status) {
    snprintf(err, err_size, "cannot start: %s", strerror(-status));
    return status;
  }
  probe->order = *order;
  probe->order.config.cpus = cpus;
  status = check_size(&probe->order, err, err_size);
  if (status)
    return status;
  if (order->targets_num) {
    status = start_targets(probe);
    if (status)
      snprintf(err, err_size, "cannot start: %s", strerror(-status));
  } else {
    probe->parts_num = 1;
    status = attach(probe, &probe->parts[0], NULL, false, err, err_size);
  }
  if (status == 0)
    *ret_probe = TAKE_PTR(probe);
  return status;
}

bool probe__is_up(const struct probe *probe) { return probe->sharer != NULL; }

const char *probe__rung(const struct probe *probe) { return probe->rungs; }

size_t probe__functions(const struct probe *probe) {
  size_t count = 0;
  for (size_t i = 0; i < probe->parts_num; i++)
    count += probe->parts[i].target && probe->parts[i].rung;
  return count;
}

struct hist_map *probe__hist_map(struct probe *probe) {
  return probe->hist_map;
}

uint64_t probe__missed(const struct probe *probe) {
  uint64_t count = 0;
  for (size_t i = 0; i < probe->parts_num; i++)
    if (probe->parts[i].rung)
      count += rung__missed(probe->parts[i].rung);
  return count;
}

uint64_t probe__memory(const struct probe *probe) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < probe->parts_num; i++) {
    const struct rung *rung = probe->parts[i].rung;
    if (rung)
      bytes += map_set__memory(rung->object, rung == probe->sharer);
  }
  return bytes;
}

/* The one whose rows they share goes last. */
void probe__free(struct probe *probe) {
  if (!probe)
    return;
  for (size_t i = 0; i < probe->parts_num; i++)
    if (probe->parts[i].rung != probe->sharer)
      rung__free(probe->parts[i].rung);
  hist_map__free(probe->hist_map);
  rung__free(probe->sharer);
  free(probe->image.bytes);
  free(probe);
}
