# Whatever a build needs and does not find is noted here and reported once, all
# of it together, so that one look at a package manager is enough.

# EBPF_LATENCY_MISSING(WHAT, DEBIAN-PACKAGE, FEDORA-PACKAGE)
AC_DEFUN([EBPF_LATENCY_MISSING],
  [AS_VAR_APPEND([ebpf_latency_missing],
    ["${ebpf_latency_missing:+; }$1 (Debian: $2, Fedora: $3)"])])

# EBPF_LATENCY_LIBRARY(VARIABLE, MODULE, DEBIAN-PACKAGE, FEDORA-PACKAGE)
AC_DEFUN([EBPF_LATENCY_LIBRARY],
  [PKG_CHECK_MODULES([$1], [$2], [],
    [EBPF_LATENCY_MISSING([$2], [$3], [$4])])])

AC_DEFUN([EBPF_LATENCY_REPORT_MISSING],
  [AS_IF([test -n "$ebpf_latency_missing"],
    [AC_MSG_ERROR([missing: $ebpf_latency_missing])])])
