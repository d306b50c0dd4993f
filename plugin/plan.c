/* SPDX-License-Identifier: MIT */
/* Grouping and filters of one probe, checked against its description. */
#include "plan.h"

#include "description.h"
#include "label.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SYS_DIR "/sys"

struct maker {
  const struct config *conf;
  const struct config_probe *probe;
  const struct latency_description *desc;
  struct plan *plan;
  char *err;
  size_t err_size;
};

/* "<Plugin ebpf_latency>, <Probe "NAME">: KEY "VALUE": what is wrong" */
__attribute__((format(printf, 4, 5))) static int
refuse(const struct maker *m, const char *key, const char *value,
       const char *format, ...) {
  int len = snprintf(m->err, m->err_size,
                     "<Plugin ebpf_latency>, <Probe \"%s\">: %s \"%s\": ",
                     m->probe->name, key, value);
  va_list args;
  va_start(args, format);
  if (len >= 0 && (size_t)len < m->err_size)
    vsnprintf(m->err + len, m->err_size - len, format, args);
  va_end(args);
  return -EINVAL;
}

static const struct latency_label *own_label(const struct maker *m, int index) {
  return index == PLAN_COMM ? NULL : &m->desc->labels[index];
}

static void add_label(struct maker *m, int index) {
  m->plan->labels[m->plan->labels_num++] = index;
}

static int group_by(struct maker *m) {
  if (!m->probe->grouped) {
    for (int i = 0; i < LATENCY_OWN_LABELS && m->desc->labels[i].name[0]; i++)
      if (!m->desc->labels[i].optional)
        add_label(m, i);
    return 0;
  }
  for (size_t i = 0; i < m->probe->group_by_num; i++) {
    const char *name = m->probe->group_by[i];
    int index = description__label(m->desc, name);
    if (index < 0 && m->desc->has_task && strcmp(name, "comm") == 0)
      index = PLAN_COMM;
    if (index < 0) {
      char labels[128];
      description__labels(m->desc, labels, sizeof(labels));
      return refuse(m, "GroupBy", name,
                    "no label of this probe; it has: %s%s\"none\"", labels,
                    labels[0] ? ", or " : "");
    }
    add_label(m, index);
  }
  return 0;
}

/* How many words an enumeration has. */
static uint32_t words(const char *values) {
  uint32_t count = values[0] != '\0';
  for (; *values; values++)
    count += *values == ' ';
  return count;
}

/* How many values a label has at most. */
static uint32_t values_of(const struct maker *m,
                          const struct latency_label *label) {
  switch (label->decoder) {
  case LATENCY_DECODE_ENUM:
    return words(label->values);
  case LATENCY_DECODE_POWER:
    return LATENCY_POWER_CLASSES;
  case LATENCY_DECODE_FUNCTION:
    return m->plan->targets_num ? m->plan->targets_num : 1;
  default:
    return m->conf->max_groups;
  }
}

/* The rows that the grouping needs; no more than there can be label sets. */
static void size_groups(struct maker *m) {
  struct latency_config *kernel = &m->plan->kernel;
  uint64_t possible = 1;
  bool keyed = false;
  kernel->inner = 1;
  for (size_t i = 0; i < m->plan->labels_num; i++) {
    const int index = m->plan->labels[i];
    const struct latency_label *label = own_label(m, index);
    if (label && label->inner) {
      kernel->inner = label->inner;
      continue;
    }
    keyed = true;
    kernel->group_by |= label ? 1u << index : LATENCY_GROUP_BY_COMM;
    possible *= label ? values_of(m, label) : m->conf->max_groups;
    if (possible > m->conf->max_groups)
      possible = m->conf->max_groups;
  }
  if (!keyed)
    return;
  m->plan->groups = m->conf->max_groups / kernel->inner;
  if (m->plan->groups > possible)
    m->plan->groups = possible;
  if (!m->plan->groups)
    m->plan->groups = 1;
}

static int task_filters(struct maker *m) {
  struct latency_config *kernel = &m->plan->kernel;
  const struct config_probe *probe = m->probe;
  if (!m->desc->has_task && probe->comms_num)
    return refuse(m, "Process", probe->comms[0],
                  "the events of this probe belong to no process");
  if (!m->desc->has_task && probe->pids_num) {
    char pid[16];
    snprintf(pid, sizeof(pid), "%u", probe->pids[0]);
    return refuse(m, "Pid", pid,
                  "the events of this probe belong to no process");
  }
  kernel->comms = probe->comms_num;
  for (size_t i = 0; i < probe->comms_num; i++)
    memcpy(kernel->comm[i], probe->comms[i], LATENCY_COMM_LEN);
  kernel->pids = probe->pids_num;
  memcpy(kernel->pid, probe->pids, sizeof(kernel->pid));
  return 0;
}

/* A rung that was asked for is one that the probe has. */
static int rung(struct maker *m) {
  char names[LATENCY_RUNGS * (sizeof(m->desc->rungs[0].name) + 2)] = "";
  char *end = names;
  const struct latency_rung *rungs = m->desc->rungs;
  if (!m->probe->rung[0])
    return 0;
  for (size_t i = 0; i < LATENCY_RUNGS && rungs[i].name[0]; i++) {
    if (strcmp(m->probe->rung, rungs[i].name) == 0)
      return 0;
    end = stpcpy(stpcpy(end, i ? ", " : ""), rungs[i].name);
  }
  return refuse(m, "Rung", m->probe->rung, "no rung of this probe; it has: %s",
                names);
}

/* Options that belong to a label of the probe. */
static int value_filters(struct maker *m) {
  struct latency_config *kernel = &m->plan->kernel;
  for (size_t i = 0; i < m->probe->filters_num; i++) {
    const struct config_filter *filter = &m->probe->filters[i];
    const int index = description__option(m->desc, filter->option);
    if (index < 0)
      return refuse(m, filter->option, filter->values[0],
                    "no option of this probe");
    for (size_t j = 0; j < filter->values_num; j++) {
      uint32_t value;
      if (label__value(&m->desc->labels[index], filter->values[j], &value) ||
          value >= LATENCY_FILTER_RANGE)
        return refuse(m, filter->option, filter->values[j], "no such %s",
                      m->desc->labels[index].name);
      kernel->value[value / 64] |= 1ull << (value % 64);
      kernel->values = 1;
    }
  }
  return 0;
}

/* What a probe of this kind has no use for. */
static int refuse_functions(const struct maker *m, bool own, bool blocks) {
  const struct config_probe *probe = m->probe;
  const char *why = m->desc->target == LATENCY_TARGET_FUNCTIONS
                        ? "belongs into a <Function> block"
                        : "no option of this probe";
  if (own && probe->binary)
    return refuse(m, "Binary", probe->binary, "%s", why);
  if (own && probe->symbol)
    return refuse(m, "Symbol", probe->symbol, "%s", why);
  if (blocks && probe->functions_num)
    return refuse(m, "Function", probe->functions[0].name, "%s", why);
  return 0;
}

static int functions(struct maker *m) {
  const struct config_probe *probe = m->probe;
  struct plan *plan = m->plan;
  if (m->desc->target == LATENCY_TARGET_NONE)
    return refuse_functions(m, true, true);
  if (m->desc->target == LATENCY_TARGET_LIBC_FUNCTION) {
    plan->targets[plan->targets_num++] = (struct plan_target){
        .name = "",
        .binary = probe->binary,
        .symbol = probe->symbol ? probe->symbol : m->desc->symbol};
    return refuse_functions(m, false, true);
  }
  for (size_t i = 0; i < probe->functions_num; i++) {
    const struct config_function *function = &probe->functions[i];
    plan->targets[plan->targets_num++] = (struct plan_target){
        .name = function->name,
        .binary = function->binary,
        .symbol = function->symbol ? function->symbol : function->name,
        .in_kernel = !function->binary};
  }
  if (!plan->targets_num) {
    snprintf(
        m->err, m->err_size,
        "<Plugin ebpf_latency>, <Probe \"%s\">: Function: there must be at "
        "least one <Function> block",
        probe->name);
    return -EINVAL;
  }
  return refuse_functions(m, true, false);
}

int plan__make(const struct config *conf, const struct config_probe *probe,
               const struct latency_description *desc, struct plan *ret_plan,
               char *err, size_t err_size) {
  struct plan plan = {.options = {
                          .percentiles = probe->percentiles.count
                                             ? &probe->percentiles
                                             : &conf->percentiles,
                          .unit = desc->unit,
                          .buckets = conf->buckets,
                          .cumulative = conf->cumulative_buckets,
                      }};
  struct maker m = {conf, probe, desc, &plan, err, err_size};
  int status = group_by(&m);
  if (status == 0)
    status = task_filters(&m);
  if (status == 0)
    status = value_filters(&m);
  if (status == 0)
    status = rung(&m);
  if (status == 0)
    status = functions(&m);
  if (status)
    return status;
  size_groups(&m);
  config__bounds(conf, desc->unit, &plan.options.low_exp,
                 &plan.options.high_exp);
  *ret_plan = plan;
  return 0;
}

void plan__instance(const struct plan *plan,
                    const struct latency_description *desc,
                    const struct latency_key *key, uint32_t inner, bool other,
                    char ret_name[METRIC_NAME_LEN]) {
  char text[CONFIG_LABELS_MAX][LABEL_TEXT_LEN];
  const char *labels[CONFIG_LABELS_MAX + 1];
  size_t count = 0;
  if (other)
    labels[count++] = PLAN_OTHER;
  for (size_t i = 0; i < plan->labels_num; i++) {
    const int index = plan->labels[i];
    const bool is_inner = index != PLAN_COMM && desc->labels[index].inner;
    if (other && !is_inner)
      continue;
    if (index == PLAN_COMM)
      snprintf(text[i], sizeof(text[i]), "%.*s", LATENCY_COMM_LEN, key->comm);
    else if (desc->labels[index].decoder == LATENCY_DECODE_FUNCTION &&
             key->own[index] < plan->targets_num)
      snprintf(text[i], sizeof(text[i]), "%s",
               plan->targets[key->own[index]].name);
    else
      label__text(&desc->labels[index], is_inner ? inner : key->own[index],
                  SYS_DIR, text[i], sizeof(text[i]));
    labels[count++] = text[i];
  }
  metric__instance(desc->name, labels, count, other ? NULL : PLAN_OTHER,
                   ret_name);
}
