#!/bin/sh
# Writes ./configure and what it needs; for a git checkout, not for a release.
set -eu
cd "$(dirname "$0")"

# A missing pkg.m4 would only show as a riddle in configure.
missing=
for tool in autoreconf automake libtoolize pkg-config; do
  command -v "$tool" >/dev/null || missing="$missing $tool"
done
if [ -n "$missing" ]; then
  echo "autogen.sh: not found:$missing (Debian: autoconf automake libtool" \
    "pkg-config, Fedora: autoconf automake libtool pkgconf-pkg-config)" >&2
  exit 1
fi
exec autoreconf --force --install
