/* SPDX-License-Identifier: MIT */
/*
 * Why may BPF not load? The kernel answers most questions with EPERM or ENOENT
 * alone; this file finds out what an administrator can change.
 */
#include "privilege.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define LOCKDOWN_PATH "/sys/kernel/security/lockdown"

static bool has_capability(unsigned capability) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
  if (syscall(SYS_capget, &header, data))
    return true; /* unknown: do not blame it */
  return data[capability / 32].effective >> (capability % 32) & 1;
}

static ssize_t read_start(const char *path, char *ret_text, size_t size) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  const ssize_t len = read(fd, ret_text, size - 1);
  (void)close(fd);
  ret_text[len > 0 ? len : 0] = '\0';
  return len;
}

/* The word in brackets of "none [integrity] confidentiality". */
static void lockdown(char *ret_mode, size_t size) {
  char text[128];
  ret_mode[0] = '\0';
  if (read_start(LOCKDOWN_PATH, text, sizeof(text)) <= 0)
    return;
  const char *begin = strchr(text, '[');
  const char *end = begin ? strchr(begin, ']') : NULL;
  if (end && strncmp(begin, "[none]", 6) != 0)
    snprintf(ret_mode, size, "%.*s", (int)(end - begin - 1), begin + 1);
}

static void add(char *text, size_t size, const char *what) {
  const size_t len = strlen(text);
  snprintf(text + len, size - len, "%s%s", len ? "; " : "", what);
}

void privilege__missing(char *ret_text, size_t size) {
  ret_text[0] = '\0';
  if (!has_capability(CAP_SYS_ADMIN)) {
    const bool bpf = has_capability(CAP_BPF);
    const bool perfmon = has_capability(CAP_PERFMON);
    if (!bpf || !perfmon)
      add(ret_text, size,
          bpf       ? "this process lacks CAP_PERFMON"
          : perfmon ? "this process lacks CAP_BPF"
                    : "this process lacks CAP_BPF and CAP_PERFMON");
  }
  char start[4];
  if (read_start(BTF_PATH, start, sizeof(start)) <= 0)
    add(ret_text, size,
        BTF_PATH " cannot be read: the kernel needs CONFIG_DEBUG_INFO_BTF");
  char mode[32], what[64];
  lockdown(mode, sizeof(mode));
  if (mode[0]) {
    snprintf(what, sizeof(what), "kernel lockdown=%s", mode);
    add(ret_text, size, what);
  }
}
