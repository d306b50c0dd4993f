/* SPDX-License-Identifier: MIT */
/*
 * Sending on a TCP socket: tcp_sendmsg() entered to returned, whoever calls it
 * and whatever it returns, errors too.
 */
#include "tcp_call.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "tcp_sendmsg",
    .help = "TCP sends: tcp_sendmsg entered to returned",
    .rungs = {{"fentry", "fentry_exit fentry_entry"},
              {"kprobe", "kprobe_return kprobe_entry"},
              {"sys_enter", "sock_send_length sys_enter"}},
};

SEC("fentry/tcp_sendmsg")
int BPF_PROG(fentry_entry) { return tcp_call_entered(); }

SEC("fexit/tcp_sendmsg")
int BPF_PROG(fentry_exit) {
  tcp_call_returned();
  return 0;
}

SEC("kprobe/tcp_sendmsg")
int kprobe_entry(void *ctx) { return tcp_call_entered(); }

SEC("kretprobe/tcp_sendmsg")
int kprobe_return(void *ctx) {
  tcp_call_returned();
  return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter) { return tcp_call_entered(); }

SEC("tp_btf/sock_send_length")
int BPF_PROG(sock_send_length, struct sock *sk) { return tcp_call_told(sk); }
