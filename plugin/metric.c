/* SPDX-License-Identifier: MIT */
/*
 * Names and values of series. Names are made here so that no output has to
 * change them: what one of them would merge, cut or choke on never gets out.
 */
#include "metric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_DIGITS 8
#define HASH_LEN (1 + HASH_DIGITS) /* with the '-' before it */

/*
 * FNV-1a with 64 bits, folded to 32. The NUL of each text is hashed too, so
 * that it matters where one ends.
 */
static uint32_t hash(const char *const *labels, size_t labels_num) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < labels_num; i++) {
    const char *c = labels[i];
    do {
      hash ^= (unsigned char)*c;
      hash *= 0x100000001b3u;
    } while (*c++ != '\0');
  }
  return (uint32_t)(hash >> 32 ^ hash);
}

/* isalnum() is the locale's; this is not. */
static bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/*
 * Is label i's text the only one that gives what it gives in a name?
 *
 * A '-' may stand in the first label only: all label sets of a probe have the
 * same number of labels, n, so the last n - 1 of the '-' in a name are then the
 * joins, and the name can be taken apart again. (That at most one label has a
 * '-', whichever, would not do: "a-b","c" and "a","b-c" join alike.) A device
 * such as dm-0 comes first and keeps its plain name.
 *
 * Only a first label can be taken for `reserved`, which comes first itself and
 * stands for one label or more: any other set that begins with it, as in
 * "other-x","y", has more '-'.
 */
static bool is_clear(const char *text, size_t i, const char *reserved) {
  if (*text == '\0')
    return false;
  if (i == 0 && reserved != NULL && strcmp(text, reserved) == 0)
    return false;
  for (; *text != '\0'; text++)
    if (!is_plain(*text) || (*text == '-' && i > 0))
      return false;
  return true;
}

/* Does the name end as if in a hash? It must not be taken for one. */
static bool looks_hashed(const char *name) {
  size_t len = strlen(name);
  if (len < HASH_LEN || name[len - HASH_LEN] != '-')
    return false;
  const char *digits = name + len - HASH_DIGITS;
  return strspn(digits, "0123456789abcdef") == HASH_DIGITS;
}

/* Appends as much of `text` as fits; false: not all of it. */
static bool append(char name[METRIC_NAME_LEN], size_t *len, const char *text) {
  for (; *text != '\0'; text++) {
    if (*len == METRIC_NAME_LEN - 1)
      return false;
    name[(*len)++] = is_plain(*text) ? *text : '_';
  }
  name[*len] = '\0';
  return true;
}

void metric__instance(const char *probe, const char *const *labels,
                      size_t labels_num, const char *reserved,
                      char ret_name[METRIC_NAME_LEN]) {
  char name[METRIC_NAME_LEN] = "";
  size_t len = 0;
  bool clear = append(name, &len, probe);
  for (size_t i = 0; i < labels_num; i++) {
    clear &= append(name, &len, "-") && append(name, &len, labels[i]);
    clear &= is_clear(labels[i], i, reserved);
  }
  if (labels_num > 0 && (!clear || looks_hashed(name))) {
    if (len > METRIC_NAME_LEN - 1 - HASH_LEN)
      len = METRIC_NAME_LEN - 1 - HASH_LEN;
    snprintf(name + len, sizeof(name) - len, "-%0*x", HASH_DIGITS,
             hash(labels, labels_num));
  }
  memcpy(ret_name, name, sizeof(name));
}

/*
 * The fewest digits that read back as p; the exponent, printed with them,
 * tells how many of them are decimals. "%g" would come near, and write 0.00001
 * as 1e-05. What has too many zeros for a name keeps its exponent.
 */
void metric__percentile_name(double p, char ret_name[METRIC_NAME_LEN]) {
  if (!(p > 0))
    p = 0; /* -0 */
  char text[METRIC_NAME_LEN];
  int decimals = 0;
  do
    snprintf(text, sizeof(text), "%.*e", decimals, p);
  while (strtod(text, NULL) != p && ++decimals < 17);

  decimals -= (int)strtol(strchr(text, 'e') + 1, NULL, 10);
  char fixed[METRIC_NAME_LEN];
  int len =
      snprintf(fixed, sizeof(fixed), "%.*f", decimals > 0 ? decimals : 0, p);
  size_t room = METRIC_NAME_LEN - sizeof("percentile-");
  snprintf(ret_name, METRIC_NAME_LEN, "percentile-%.*s", (int)room,
           (size_t)len <= room ? fixed : text);
}

/* Where the metrics of one label set go. */
struct out {
  const char *plugin_instance;
  metric_fn *fn;
  void *arg;
};

static void gauge(const struct out *out, const char *type,
                  const char *type_instance, double value) {
  struct metric metric = {.plugin_instance = out->plugin_instance,
                          .type = type,
                          .type_instance = type_instance,
                          .gauge = value};
  out->fn(&metric, out->arg);
}

static void derive(const struct out *out, const char *type_instance,
                   uint64_t value) {
  struct metric metric = {.plugin_instance = out->plugin_instance,
                          .type = "derive",
                          .type_instance = type_instance,
                          .is_derive = true,
                          .derive = (int64_t)value};
  out->fn(&metric, out->arg);
}

static void interval_metrics(const struct out *out,
                             const struct metric_options *options,
                             const struct hist *interval, uint64_t max) {
  if (interval->count == 0)
    return;
  const char *type = options->unit == LATENCY_UNIT_BYTES ? "bytes" : "latency";
  for (size_t i = 0; i < options->percentiles->count; i++) {
    double p = options->percentiles->value[i];
    char name[METRIC_NAME_LEN];
    metric__percentile_name(p, name);
    gauge(out, type, name, hist__percentile(interval, p, max));
  }
  gauge(out, type, "max", (double)max);

  /* An event may be in the sum already and not yet in the count. */
  double average = (double)interval->sum / (double)interval->count;
  gauge(out, type, "average", average < (double)max ? average : (double)max);
}

static void bucket_metrics(const struct out *out,
                           const struct metric_options *options,
                           const struct hist *total) {
  uint64_t count[HIST_BOUNDS_MAX + 1];
  unsigned n = hist__powers(total, options->low_exp, options->high_exp,
                            options->cumulative, count);
  for (unsigned i = 0; i + 1 < n; i++) {
    char name[METRIC_NAME_LEN];
    snprintf(name, sizeof(name), "bucket-%llu", 1ULL << (options->low_exp + i));
    derive(out, name, count[i]);
  }
  derive(out, "bucket-inf", count[n - 1]);
}

void metric__histogram(const char *plugin_instance,
                       const struct metric_options *options,
                       const struct hist *total, const struct hist *interval,
                       uint64_t interval_max, metric_fn *fn, void *arg) {
  struct out out = {plugin_instance, fn, arg};
  interval_metrics(&out, options, interval, interval_max);
  derive(&out, "count", total->count);
  derive(&out, "sum", total->sum);
  if (options->buckets)
    bucket_metrics(&out, options, total);
}

void metric__gauge(const char *plugin_instance, const char *type_instance,
                   double value, metric_fn *fn, void *arg) {
  struct out out = {plugin_instance, fn, arg};
  gauge(&out, "gauge", type_instance, value);
}

void metric__derive(const char *plugin_instance, const char *type_instance,
                    uint64_t value, metric_fn *fn, void *arg) {
  struct out out = {plugin_instance, fn, arg};
  derive(&out, type_instance, value);
}
