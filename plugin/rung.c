/* SPDX-License-Identifier: MIT */
/*
 * Loading and attaching one rung. Everything that differs between probes comes
 * from the description in the object; this file knows none by name.
 */
#include "rung.h"

#include "cleanup.h"
#include "libbpf_log.h"
#include "map_set.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CLEANUP_DEFINE(struct rung, rung__free)

/* Is `name` one of the words? */
static bool has_word(const char *words, const char *name) {
  const size_t len = strlen(name);
  for (const char *at = words; (at = strstr(at, name)); at += len)
    if ((at == words || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
      return true;
  return false;
}

/* Those that other rungs name, and this one does not, are not made. */
static void pick_maps(struct bpf_object *object,
                      const struct latency_description *desc,
                      const struct latency_rung *says) {
  struct bpf_map *map;
  bpf_object__for_each_map(map, object) {
    const char *name = bpf_map__name(map);
    for (size_t i = 0; i < LATENCY_RUNGS; i++)
      if (has_word(desc->rungs[i].maps, name) && !has_word(says->maps, name))
        (void)bpf_map__set_autocreate(map, false);
  }
}

/* Says what failed, in the middle of a sentence, and libbpf's word for it. */
__attribute__((format(printf, 4, 5))) static int
fail(char *why, size_t size, int err, const char *format, ...) {
  const char *complaint = libbpf_log__complaint();
  va_list args;
  va_start(args, format);
  const int len = vsnprintf(why, size, format, args);
  va_end(args);
  if (len >= 0 && (size_t)len < size)
    snprintf(why + len, size - len, ": %s%s%s%s", strerror(-err),
             complaint[0] ? " (" : "", complaint, complaint[0] ? ")" : "");
  return err;
}

/* Is the rung for functions of this kind, or for none? */
static bool suits(const struct bpf_object *object,
                  const struct latency_rung *says,
                  const struct link_function *function) {
  struct bpf_program *program;
  bpf_object__for_each_program(program, object) {
    const enum link_kind kind = link_set__kind(program);
    if (function && kind != LINK_OTHER &&
        has_word(says->programs, bpf_program__name(program)) &&
        (kind == LINK_KERNEL_FUNCTION) != !function->path)
      return false;
  }
  return true;
}

/* Which programs are loaded, and on what. */
static int pick_programs(const struct rung *rung,
                         const struct link_function *function) {
  struct bpf_program *program;
  bpf_object__for_each_program(program, rung->object) {
    const bool wanted =
        has_word(rung->says->programs, bpf_program__name(program));
    (void)bpf_program__set_autoload(program, wanted);
    const int err =
        wanted && function ? link_set__prepare(program, function) : 0;
    if (err)
      return err;
  }
  return 0;
}

/* In the order of the description. NULL for `links`: not those. */
static int attach(const struct rung *rung, const struct rung_order *order,
                  struct link_set *links, struct link_set *function_links,
                  char *why, size_t why_size) {
  char programs[sizeof(rung->says->programs)];
  char *rest = programs;
  snprintf(programs, sizeof(programs), "%s", rung->says->programs);
  for (char *name; (name = strsep(&rest, " "));) {
    const struct bpf_program *program =
        bpf_object__find_program_by_name(rung->object, name);
    struct link_set *set = links;
    if (program && link_set__kind(program) != LINK_OTHER)
      set = function_links;
    if (!set)
      continue;
    const int err = program
                        ? link_set__attach(set, program, order->desc,
                                           order->config.cpus, order->function)
                        : -ENOEXEC;
    if (err)
      return fail(why, why_size, err, "cannot attach %s", name);
  }
  return 0;
}

static int load(struct rung *rung, const struct rung_order *order, char *why,
                size_t why_size) {
  int err = pick_programs(rung, order->function);
  if (err)
    return fail(why, why_size, err, "cannot load");
  pick_maps(rung->object, order->desc, rung->says);
  err = map_set__size(rung->object, &order->config, order->groups);
  if (!err && order->sharer)
    err = map_set__share(rung->object, order->sharer->object);
  if (err)
    return fail(why, why_size, err, "it does not have the maps of a probe");
  err = bpf_object__load(rung->object);
  if (err)
    return fail(why, why_size, err, "cannot load");
  if (!order->sharer)
    err = map_set__fill(rung->object, order->groups);
  return err ? fail(why, why_size, err, "cannot fill its maps") : 0;
}

int rung__start(const struct rung_order *order, const struct latency_rung *says,
                struct rung **ret_rung, char *why, size_t why_size) {
  _cleanup_(rung__freep) struct rung *rung = calloc(1, sizeof(*rung));
  libbpf_log__begin();
  if (!rung)
    return fail(why, why_size, -ENOMEM, "cannot start");
  rung->says = says;
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = order->desc->name);
  rung->object =
      bpf_object__open_mem(order->image->bytes, order->image->size, &options);
  if (!rung->object)
    return fail(why, why_size, -errno, "cannot open it");
  if (!suits(rung->object, says, order->function)) {
    why[0] = '\0';
    return -ENOTSUP;
  }
  int err = load(rung, order, why, why_size);
  if (!err)
    err =
        attach(rung, order, &rung->links, &rung->function_links, why, why_size);
  if (err)
    return err;
  *ret_rung = TAKE_PTR(rung);
  return 0;
}

int rung__follow(struct rung *rung, const struct rung_order *order,
                 bool same_file, char *why, size_t why_size) {
  struct link_set links = {0};
  libbpf_log__begin();
  int err = attach(rung, order, NULL, &links, why, why_size);
  if (err) {
    link_set__free(&links);
    return err;
  }
  if (same_file) {
    link_set__free(&rung->function_links);
  } else {
    link_set__free(&rung->old_links);
    rung->old_links = rung->function_links;
  }
  rung->function_links = links;
  return 0;
}

uint64_t rung__missed(const struct rung *rung) {
  uint64_t missed = 0;
  struct bpf_program *program;
  bpf_object__for_each_program(program, rung->object) {
    struct bpf_prog_info info = {0};
    __u32 size = sizeof(info);
    const int fd = bpf_program__fd(program);
    if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
      missed += info.recursion_misses;
  }
  return missed;
}

void rung__free(struct rung *rung) {
  if (!rung)
    return;
  link_set__free(&rung->function_links);
  link_set__free(&rung->old_links);
  link_set__free(&rung->links);
  bpf_object__close(rung->object);
  free(rung);
}
