# The compiler of the BPF objects.
#
# EBPF_LATENCY_BPF sets
#   BPF_CLANG     a clang that knows the target bpf
#   BPF_STRIP     an llvm-strip, or nothing
#   BPF_CFLAGS    the user's to change
#   BPF_CPPFLAGS  what every object needs: the architecture, and where its
#                 <asm/types.h> is, which the target bpf does not know

AC_DEFUN([EBPF_LATENCY_BPF], [
  AC_ARG_VAR([BPF_CLANG], [clang that compiles BPF objects])
  AC_ARG_VAR([BPF_STRIP], [llvm-strip that takes the DWARF out of them])
  AC_ARG_VAR([BPF_CFLAGS], [flags for them @<:@-g -O2 -mcpu=v3@:>@])
  AC_ARG_WITH([bpf-clang],
    [AS_HELP_STRING([--with-bpf-clang=PROGRAM],
      [clang that compiles BPF objects @<:@clang, else clang-NN@:>@])],
    [BPF_CLANG=$withval])
  : "${BPF_CFLAGS=-g -O2 -mcpu=v3}"

  ebpf_latency_bpf_test () {
    AS_ECHO(["configure: $BPF_CLANG -target bpf $[]*"]) >&AS_MESSAGE_LOG_FD
    $BPF_CLANG -target bpf $[]* -c conftest.bpf.c -o conftest.bpf.o \
      >&AS_MESSAGE_LOG_FD 2>&1
  }

  AC_MSG_CHECKING([for a clang with the target bpf])
  AS_ECHO(["int x;"]) >conftest.bpf.c
  ebpf_latency_clangs=$BPF_CLANG
  AS_IF([test -z "$ebpf_latency_clangs"],
    [ebpf_latency_clangs=clang
     for i in 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11; do
       ebpf_latency_clangs="$ebpf_latency_clangs clang-$i"
     done])
  ebpf_latency_found=
  for BPF_CLANG in $ebpf_latency_clangs; do
    AS_IF([ebpf_latency_bpf_test $BPF_CFLAGS],
      [ebpf_latency_found=yes
       break])
  done
  AS_IF([test -n "$ebpf_latency_found"],
    [bpf_clang_version=`$BPF_CLANG -dumpversion`
     AC_MSG_RESULT([$BPF_CLANG $bpf_clang_version])],
    [AC_MSG_RESULT([no])
     EBPF_LATENCY_MISSING([a clang with the target bpf], [clang], [clang])])

  # The one of the same LLVM first. Not Binutils' strip: it damages BTF.
  AC_MSG_CHECKING([for llvm-strip])
  for ebpf_latency_strip in \
    `AS_ECHO(["$BPF_CLANG"]) | sed -n 's/\(.*\)clang/\1llvm-strip/p'` \
    llvm-strip; do
    AS_IF([test -z "$BPF_STRIP" &&
           command -v "$ebpf_latency_strip" >/dev/null 2>&1],
      [BPF_STRIP=$ebpf_latency_strip])
  done
  AC_MSG_RESULT([${BPF_STRIP:-none}])

  AS_CASE([$host_cpu],
    [x86_64 | i?86], [ebpf_latency_arch=x86],
    [aarch64*], [ebpf_latency_arch=arm64],
    [arm*], [ebpf_latency_arch=arm],
    [powerpc*], [ebpf_latency_arch=powerpc],
    [riscv*], [ebpf_latency_arch=riscv],
    [s390*], [ebpf_latency_arch=s390],
    [mips*], [ebpf_latency_arch=mips],
    [loongarch*], [ebpf_latency_arch=loongarch],
    [ebpf_latency_arch=$host_cpu])
  BPF_CPPFLAGS="-D__TARGET_ARCH_$ebpf_latency_arch"

  AC_MSG_CHECKING([for the directory of asm/types.h])
  ebpf_latency_asm=`AS_ECHO(["@%:@include <asm/types.h>"]) | $CPP - | \
    sed -n 's,^@%:@.*"\(.*\)/asm/types\.h".*,\1,p' | sed 1q`
  AC_MSG_RESULT([${ebpf_latency_asm:-none}])
  AS_CASE([$ebpf_latency_asm], ['' | /usr/include], [],
    [BPF_CPPFLAGS="$BPF_CPPFLAGS -idirafter $ebpf_latency_asm"])
  AC_SUBST([BPF_CPPFLAGS])

  AC_MSG_CHECKING([whether a BPF program compiles])
  cat >conftest.bpf.c <<'_EOF'
@%:@include <linux/bpf.h>
@%:@include <bpf/bpf_helpers.h>
char license_text[[]] SEC("license") = "Dual MIT/GPL";
SEC("raw_tp/sys_enter") int program(void *ctx) { return !ctx; }
_EOF
  AS_IF([test -z "$ebpf_latency_found" || test -z "$LIBBPF_LIBS"],
    [AC_MSG_RESULT([not tried])],
    [ebpf_latency_bpf_test $BPF_CFLAGS $BPF_CPPFLAGS $LIBBPF_CFLAGS],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     EBPF_LATENCY_MISSING([headers that suit BPF, see config.log],
       [linux-libc-dev], [kernel-headers])])
  rm -f conftest.bpf.c conftest.bpf.o
])
