/* SPDX-License-Identifier: MIT */
/*
 * TCP connects: SYN sent to established, of connections opened from here. A
 * connection that fails has no latency and is not counted.
 *
 * The end comes with a packet, in whatever task is interrupted; so who asked
 * is kept with the start, under the socket's address.
 */
#include "latency.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "tcpconnect",
    .help = "TCP connects: SYN sent to established",
    .labels = {{.name = "family",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "inet inet6"}},
    .rungs = {{.name = "tp_btf", .programs = "inet_sock_set_state"}},
};

struct tcpconnect_start {
  __u64 ns;
  __u32 wanted;
  __u32 reserved;
  char comm[LATENCY_COMM_LEN];
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u64);
  __type(value, struct tcpconnect_start);
} starts SEC(".maps");

/* In the context of connect(2), before the SYN leaves. */
static __always_inline void connecting(__u64 key) {
  struct tcpconnect_start start = {
      .ns = bpf_ktime_get_ns(),
      .wanted = latency_wants_current(),
  };
  if (latency_config.group_by & LATENCY_GROUP_BY_COMM)
    bpf_get_current_comm(start.comm, sizeof(start.comm));
  if (bpf_map_update_elem(&starts, &key, &start, BPF_ANY))
    latency_lose(LATENCY_LOST_MAP_FULL);
}

static __always_inline void connected(__u64 key, __u32 family, int old_state) {
  __u64 now = bpf_ktime_get_ns();
  struct tcpconnect_start *start = bpf_map_lookup_elem(&starts, &key);
  if (!start) {
    /* From SYN_RECV it is a connection that others opened. */
    if (old_state == TCP_SYN_SENT)
      latency_lose(LATENCY_LOST_UNMATCHED);
    return;
  }
  if (start->wanted)
    latency_record_span(latency_group(start->comm, family, 0), 0, start->ns,
                        now);
  else
    latency_lose(LATENCY_LOST_FILTERED);
  bpf_map_delete_elem(&starts, &key);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(inet_sock_set_state, const struct sock *sk, const int old_state,
             const int new_state) {
  if (sk->sk_protocol != IPPROTO_TCP)
    return 0;
  __u64 key = (__u64)sk;
  if (new_state == TCP_SYN_SENT)
    connecting(key);
  else if (new_state == TCP_ESTABLISHED)
    connected(key, sk->__sk_common.skc_family == AF_INET6, old_state);
  else if (old_state == TCP_SYN_SENT && new_state != TCP_SYN_RECV)
    bpf_map_delete_elem(&starts, &key);
  return 0;
}
