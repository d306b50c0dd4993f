/* SPDX-License-Identifier: MIT */
/*
 * The callbacks that collectd calls, and nothing else. Probes are loaded in
 * init, after the daemon has forked; a kernel that cannot run one is no error
 * here. A configuration error is: collectd then does not start.
 */
#include "collectd.h"

#include "plugin.h"
#include "utils/common/common.h"

#include "config.h"
#include "dispatch.h"
#include "probe.h"
#include "probe_set.h"

static struct config conf;
static bool conf_ready;
static struct probe_set *probes;

static void latency_log(int severity, const char *message) {
  plugin_log(severity, "ebpf_latency plugin: %s", message);
}

/* libbpf warns of each rung that a kernel lacks; the probe's own line says
 * what came of it. */
static void latency_log_libbpf(int warning, const char *message) {
  plugin_log(warning ? LOG_NOTICE : LOG_DEBUG, "ebpf_latency plugin: %s",
             message);
}

static int latency_defaults(void) {
  if (conf_ready)
    return 0;
  int err = config__init(&conf, EBPF_LATENCY_PROBE_DIR);
  conf_ready = err == 0;
  return err;
}

static int latency_config(oconfig_item_t *block) {
  char message[CONFIG_ERROR_LEN];
  if (latency_defaults())
    return ENOMEM;
  if (config__add(&conf, block, message, sizeof(message)) ||
      probe_set__check(&conf, message, sizeof(message))) {
    latency_log(LOG_ERR, message);
    return EINVAL;
  }
  for (const char *warning; (warning = config__warning(&conf));)
    latency_log(LOG_WARNING, warning);
  return 0;
}

static int latency_init(void) {
  if (probes)
    return 0;
  if (latency_defaults())
    return ENOMEM;
  probe__set_log(latency_log_libbpf);
  return probe_set__start(&conf, latency_log, &probes) ? ENOMEM : 0;
}

/*
 * Never an error: collectd would suspend the reads of every probe.
 *
 * After a stall collectd makes up for the reads it missed, one right after the
 * other, and its write threads may then turn their values around: "Value too
 * old". Such a read is left out; the next one covers its interval.
 */
static int latency_read(void) {
  static cdtime_t last;
  struct dispatch batch;
  if (!probes)
    return 0;
  dispatch__begin(&batch);
  if (last && batch.time - last < plugin_get_interval() / 4)
    return 0;
  last = batch.time;
  probe_set__read(probes, dispatch__metric, &batch);
  return 0;
}

static int latency_shutdown(void) {
  probe_set__free(probes);
  probes = NULL;
  config__free(&conf);
  conf_ready = false;
  return 0;
}

void module_register(void) {
  plugin_register_complex_config("ebpf_latency", latency_config);
  plugin_register_init("ebpf_latency", latency_init);
  plugin_register_read("ebpf_latency", latency_read);
  plugin_register_shutdown("ebpf_latency", latency_shutdown);
}
