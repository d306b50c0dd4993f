/* SPDX-License-Identifier: MIT */
/* Attaching programs, and detaching them by closing their links. */
#include "link_set.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int keep(struct link_set *set, struct bpf_link *link) {
  struct bpf_link **links =
      realloc(set->links, (set->num + 1) * sizeof(*set->links));
  if (!links) {
    (void)bpf_link__destroy(link);
    return -ENOMEM;
  }
  set->links = links;
  set->links[set->num++] = link;
  return 0;
}

/* Every occurrence counts: the period is 1. */
static int attach_on_cpu(struct link_set *set,
                         const struct bpf_program *program,
                         const struct latency_perf_event *event, int cpu) {
  struct perf_event_attr attr = {
      .size = sizeof(attr),
      .type = event->type,
      .config = event->config,
      .sample_period = 1,
  };
  const int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
                              PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    return -errno;
  struct bpf_link *link = bpf_program__attach_perf_event(program, fd);
  if (!link) {
    const int err = -errno;
    (void)close(fd);
    return err;
  }
  return keep(set, link); /* which owns fd */
}

static int attach_perf_event(struct link_set *set,
                             const struct bpf_program *program,
                             const struct latency_perf_event *event,
                             uint32_t cpus) {
  uint32_t attached = 0;
  for (uint32_t cpu = 0; cpu < cpus; cpu++) {
    const int err = attach_on_cpu(set, program, event, (int)cpu);
    if (err == -ENODEV)
      continue; /* possible, not online */
    if (err)
      return err;
    attached++;
  }
  return attached ? 0 : -ENODEV;
}

/* Sections that name no function, and what libbpf attaches them with. */
static const struct function_section {
  const char *name;
  enum link_kind kind;
  bool is_fentry;
  bool at_return;
} function_sections[] = {
    {"uprobe", LINK_USER_FUNCTION, false, false},
    {"uretprobe", LINK_USER_FUNCTION, false, true},
    {"fentry", LINK_KERNEL_FUNCTION, true, false},
    {"fexit", LINK_KERNEL_FUNCTION, true, true},
    {"kprobe", LINK_KERNEL_FUNCTION, false, false},
    {"kretprobe", LINK_KERNEL_FUNCTION, false, true},
};

/* NULL: it hangs on something else. */
static const struct function_section *
section_of(const struct bpf_program *program) {
  const char *name = bpf_program__section_name(program);
  for (size_t i = 0;
       i < sizeof(function_sections) / sizeof(function_sections[0]); i++)
    if (strcmp(function_sections[i].name, name) == 0)
      return &function_sections[i];
  return NULL;
}

enum link_kind link_set__kind(const struct bpf_program *program) {
  const struct function_section *section = section_of(program);
  return section ? section->kind : LINK_OTHER;
}

int link_set__prepare(struct bpf_program *program,
                      const struct link_function *function) {
  const struct function_section *section = section_of(program);
  if (!section || !section->is_fentry)
    return 0;
  return bpf_program__set_attach_target(program, 0, function->symbol);
}

static struct bpf_link *attach_function(const struct bpf_program *program,
                                        const struct function_section *section,
                                        const struct link_function *function) {
  if (section->is_fentry)
    return bpf_program__attach(program);
  if (section->kind == LINK_KERNEL_FUNCTION) {
    LIBBPF_OPTS(bpf_kprobe_opts, options, .retprobe = section->at_return);
    return bpf_program__attach_kprobe_opts(program, function->symbol, &options);
  }
  LIBBPF_OPTS(bpf_uprobe_opts, options, .retprobe = section->at_return);
  return bpf_program__attach_uprobe_opts(program, function->pid, function->path,
                                         function->offset, &options);
}

int link_set__attach(struct link_set *set, const struct bpf_program *program,
                     const struct latency_description *desc, uint32_t cpus,
                     const struct link_function *function) {
  if (bpf_program__type(program) == BPF_PROG_TYPE_PERF_EVENT) {
    const char *name = bpf_program__name(program);
    for (size_t i = 0; i < LATENCY_PERF_EVENTS; i++)
      if (strcmp(desc->perf_events[i].program, name) == 0)
        return attach_perf_event(set, program, &desc->perf_events[i], cpus);
    return -ENOEXEC;
  }
  const struct function_section *section = section_of(program);
  if (section && !function)
    return -ENOEXEC;
  struct bpf_link *link = section ? attach_function(program, section, function)
                                  : bpf_program__attach(program);
  return link ? keep(set, link) : -errno;
}

void link_set__free(struct link_set *set) {
  for (size_t i = 0; i < set->num; i++)
    (void)bpf_link__destroy(set->links[i]);
  free(set->links);
  *set = (struct link_set){0};
}
