# Where collectd's headers are, and where it looks for plugins.
#
# EBPF_LATENCY_COLLECTD sets
#   COLLECTD_CPPFLAGS   for the files that include collectd.h and plugin.h
#   OCONFIG_CPPFLAGS    for those that include <liboconfig/oconfig.h> only
#   collectd_plugindir  the directory of the plugins
#
# collectd's config.h comes with COLLECTD_CPPFLAGS. It defines PACKAGE, VERSION
# and the like, which is why this project has no config.h.

AC_DEFUN([EBPF_LATENCY_COLLECTD], [
  AC_ARG_WITH([collectd],
    [AS_HELP_STRING([--with-collectd=DIR],
      [collectd's headers: a directory with core/daemon/collectd.h, or a
       configured source tree @<:@/usr/include/collectd@:>@])],
    [collectd_headers=$withval], [collectd_headers=/usr/include/collectd])
  AC_ARG_WITH([collectd-plugindir],
    [AS_HELP_STRING([--with-collectd-plugindir=DIR],
      [where collectd looks for plugins @<:@what `collectd -h' says@:>@])],
    [collectd_plugindir=$withval], [collectd_plugindir=])

  # System directories, for the compiler to be silent about what is in them.
  # A source tree includes "config.h" and the like without a prefix, a
  # distribution's headers are rewritten to "collectd/core/...".
  collectd_headers=`cd "$collectd_headers" 2>/dev/null && pwd || \
    AS_ECHO(["$collectd_headers"])`
  AS_IF([test -f "$collectd_headers/src/daemon/collectd.h"],
    [OCONFIG_CPPFLAGS="-isystem $collectd_headers/src"
     COLLECTD_CPPFLAGS="-isystem $collectd_headers/src/daemon"],
    [OCONFIG_CPPFLAGS="-isystem $collectd_headers"
     COLLECTD_CPPFLAGS="-isystem $collectd_headers/core/daemon"
     COLLECTD_CPPFLAGS="$COLLECTD_CPPFLAGS -isystem $collectd_headers/core"
     AS_CASE(["$collectd_headers"], [/usr/include/collectd], [],
       [OCONFIG_CPPFLAGS="$OCONFIG_CPPFLAGS -isystem ${collectd_headers%/*}"])])
  COLLECTD_CPPFLAGS="-DHAVE_CONFIG_H=1 $COLLECTD_CPPFLAGS $OCONFIG_CPPFLAGS"
  AC_SUBST([COLLECTD_CPPFLAGS])
  AC_SUBST([OCONFIG_CPPFLAGS])

  AC_MSG_CHECKING([for collectd's headers])
  ebpf_latency_save_CPPFLAGS=$CPPFLAGS
  CPPFLAGS="$COLLECTD_CPPFLAGS -D_GNU_SOURCE $CPPFLAGS"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
    #include "collectd.h"
    #include "plugin.h"]], [[
    value_list_t vl = VALUE_LIST_INIT;
    return plugin_dispatch_values(&vl);]])],
    [AC_MSG_RESULT([$collectd_headers])],
    [AC_MSG_RESULT([no, not in $collectd_headers])
     EBPF_LATENCY_MISSING([collectd's headers], [collectd-dev],
       [none, so a configured source tree by --with-collectd=DIR])])
  CPPFLAGS=$ebpf_latency_save_CPPFLAGS

  AC_MSG_CHECKING([for collectd's plugin directory])
  AS_IF([test -z "$collectd_plugindir"],
    [collectd_plugindir=`PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; \
       collectd -h 2>/dev/null | sed -n 's,^ *Plugin directory *,,p'`])
  AS_IF([test -z "$collectd_plugindir"],
    [collectd_plugindir='${libdir}/collectd'])
  AC_SUBST([collectd_plugindir])
  AC_MSG_RESULT([$collectd_plugindir])
])
