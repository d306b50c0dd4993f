/* SPDX-License-Identifier: MIT */
/* libbpf's own messages: where they go, and which of them tells a reason. */
#include "libbpf_log.h"

#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static probe_log_fn *log_message;

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

void libbpf_log__set(probe_log_fn *fn) {
  log_message = fn;
  libbpf_set_print(print_libbpf);
}

void libbpf_log__begin(void) { complaint[0] = '\0'; }

const char *libbpf_log__complaint(void) { return complaint; }
