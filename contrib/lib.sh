# shellcheck shell=bash
# What contrib/quickstart, contrib/check and .ci/run share: installing what is
# missing, and a build outside the source tree. For bash, to be sourced.

# Where daemons and file system tools are, which is not on a user's PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

srcdir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache_dir=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/ebpf_latency

# shellcheck disable=SC2034 # for those that source this file
BUILD_PACKAGES=(gcc libc6-dev make autoconf automake libtool pkg-config clang
  llvm libbpf-dev libelf-dev libyajl-dev collectd-core collectd-dev perl)
# shellcheck disable=SC2034
TEST_PACKAGES=(check python3 python3-pytest clang-format shellcheck bpftool
  e2fsprogs util-linux libcap2-bin procps)
# shellcheck disable=SC2034
VM_PACKAGES=(qemu-system-x86 busybox-static kmod xz-utils iproute2)

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# quietly LOG COMMAND...: its output goes to LOG and is seen when it fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  "$@" >"$log" 2>&1 && return
  tail -n 40 "$log" >&2
  die "failed: $*; all of its output is in $log"
}

# --- Packages ----------------------------------------------------------------

# Debian's package, Fedora's, and what shows that it is there without dpkg.
# Fedora has no package of collectd's headers.
known_packages() {
  cat <<'EOF'
autoconf       autoconf               command -v autoconf
automake       automake               command -v automake
bpftool        bpftool                command -v bpftool
busybox-static busybox                command -v busybox
check          check-devel            pkg-config --exists check
clang          clang                  command -v clang
clang-format   clang-tools-extra      command -v clang-format
collectd-core  collectd               command -v collectd
collectd-dev   -                      test -d /usr/include/collectd/core
e2fsprogs      e2fsprogs              command -v mkfs.ext4
gcc            gcc                    command -v gcc
iproute2       iproute-tc             command -v tc
kmod           kmod                   command -v modprobe
libbpf-dev     libbpf-devel           pkg-config --exists libbpf
libc6-dev      glibc-devel            test -e /usr/include/stdio.h
libcap2-bin    libcap                 command -v capsh
libelf-dev     elfutils-libelf-devel  pkg-config --exists libelf
libtool        libtool                command -v libtoolize
libyajl-dev    yajl-devel             pkg-config --exists yajl
llvm           llvm                   command -v llvm-strip
make           make                   command -v make
perl           perl-podlators         command -v pod2man
pkg-config     pkgconf-pkg-config     command -v pkg-config
procps         procps-ng              command -v pgrep
python3        python3                test -x /usr/bin/python3
python3-pytest python3-pytest         /usr/bin/python3 -c 'import pytest'
qemu-system-x86 qemu-system-x86-core  command -v qemu-system-x86_64
shellcheck     ShellCheck             command -v shellcheck
util-linux     util-linux             command -v unshare
xz-utils       xz                     command -v xz
EOF
}

# Prints those of the packages that are not installed: by Debian's name, or
# by Fedora's where there is no dpkg.
missing_packages() {
  local package debian fedora test
  if command -v dpkg-query >/dev/null; then
    for package; do
      [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" \
        = installed ] || printf '%s\n' "$package"
    done
    return
  fi
  while read -r debian fedora test; do
    case " $* " in
    *" $debian "*) ;;
    *) continue ;;
    esac
    bash -c "$test" >/dev/null 2>&1 && continue
    [ "$fedora" != - ] || fedora="collectd's headers, from its source"
    printf '%s\n' "$fedora"
  done < <(known_packages)
}

# No service starts because its package comes in as something to build with.
apt_install() (
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 1' INT TERM
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
  fi
  export DEBIAN_FRONTEND=noninteractive
  # An old list of packages may do, when there is no network.
  apt-get -q update || true
  apt-get -q install -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@" </dev/null
)

# need_packages PACKAGE...: installs what is missing, or says what to install.
need_packages() {
  local missing names
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  if ! command -v apt-get >/dev/null; then
    names=$(printf '%s; ' "${missing[@]}")
    die "not found, by Fedora's names: ${names%; }"
  fi
  if [ "$(id -u)" != 0 ]; then
    die "missing: ${missing[*]}; as root:" \
      "apt-get install --no-install-recommends ${missing[*]}"
  fi
  printf 'Installing %s\n' "${missing[*]}"
  quietly "$cache_dir/apt.log" apt_install "${missing[@]}"
}

# --- Build -------------------------------------------------------------------

# Prints the build directory: one for each source directory.
build_dir() {
  local hash
  hash=$(printf '%s' "$srcdir" | cksum)
  printf '%s\n' "${EBPF_LATENCY_BUILD:-$cache_dir/build-${hash%% *}}"
}

autogen_needed() {
  [ ! -e "$srcdir/configure" ] || [ ! -e "$srcdir/Makefile.in" ] ||
    [ -n "$(find "$srcdir/configure.ac" "$srcdir/Makefile.am" "$srcdir/m4" \
      -name '[!.]*' -newer "$srcdir/configure" -print -quit)" ]
}

# build [CONFIGURE-ARGUMENT...]: everything, up to date, in build_dir. Does
# only what is needed; make does the same for what is in the Makefile.
build() {
  local dir
  dir=$(build_dir)
  mkdir -p "$dir"
  # One at a time: autogen.sh writes to the source tree.
  (
    flock 9
    if autogen_needed; then
      quietly "$dir/autogen.log" "$srcdir/autogen.sh"
    fi
    if [ ! -e "$dir/config.status" ] ||
      [ "$(cat "$dir/configure.args" 2>/dev/null)" != "$*" ]; then
      cd "$dir" || exit
      quietly "$dir/configure.log" "$srcdir/configure" "$@"
      printf '%s' "$*" >"$dir/configure.args"
    fi
    quietly "$dir/make.log" make -C "$dir" -j "$(nproc)"
  ) 9<"$srcdir/configure.ac" || exit
}
