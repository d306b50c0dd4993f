/* SPDX-License-Identifier: MIT */
/* The only place where values are handed to collectd. */
#include "collectd.h"

#include "plugin.h"
#include "utils/common/common.h"

#include "dispatch.h"

_Static_assert(sizeof(cdtime_t) <= sizeof(unsigned long long),
               "struct dispatch holds a cdtime_t");

void dispatch__begin(struct dispatch *batch) { batch->time = cdtime(); }

void dispatch__metric(const struct metric *metric, void *arg) {
  const struct dispatch *batch = arg;
  value_t value;
  if (metric->is_derive)
    value.derive = metric->derive;
  else
    value.gauge = metric->gauge;

  value_list_t list = VALUE_LIST_INIT;
  list.values = &value;
  list.values_len = 1;
  list.time = batch->time;
  sstrncpy(list.plugin, "ebpf_latency", sizeof(list.plugin));
  sstrncpy(list.plugin_instance, metric->plugin_instance,
           sizeof(list.plugin_instance));
  sstrncpy(list.type, metric->type, sizeof(list.type));
  sstrncpy(list.type_instance, metric->type_instance,
           sizeof(list.type_instance));
  (void)plugin_dispatch_values(&list);
}
