/* SPDX-License-Identifier: MIT */
/*
 * TCP's smoothed round-trip time, at each segment that an established
 * connection receives: what the kernel itself goes by. It is kept in eighths
 * of a microsecond, so this is as fine as it gets.
 */
#include "latency.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .name = "tcprtt",
    .help = "TCP: smoothed round-trip time at each segment received",
    .labels = {{.name = "family",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "inet inet6"}},
    .rungs = {{.name = "tp_btf", .programs = "tcp_probe"},
              {.name = "fentry", .programs = "tcp_rcv_established"}},
};

static __always_inline int received(struct sock *sk) {
  struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);
  /* 0: nothing was measured yet */
  if (tcp && tcp->srtt_us)
    latency_record(
        latency_group(NULL, sk->__sk_common.skc_family == AF_INET6, 0), 0,
        (__u64)tcp->srtt_us * 1000 / 8);
  return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(tcp_probe, struct sock *sk) { return received(sk); }

SEC("fentry/tcp_rcv_established")
int BPF_PROG(tcp_rcv_established, struct sock *sk) { return received(sk); }
