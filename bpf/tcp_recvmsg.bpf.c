/* SPDX-License-Identifier: MIT */
/*
 * Receiving from a TCP socket: tcp_recvmsg() entered to returned, whatever it
 * returns, the end of the stream and errors too; waiting for data is part of
 * it.
 */
#include "tcp_call.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "tcp_recvmsg",
    .help = "TCP receives: tcp_recvmsg entered to returned",
    .rungs = {{"fentry", "fentry_exit fentry_entry"},
              {"kprobe", "kprobe_return kprobe_entry"},
              {"sys_enter", "sock_recv_length sys_enter"}},
};

SEC("fentry/tcp_recvmsg")
int BPF_PROG(fentry_entry) { return tcp_call_entered(); }

SEC("fexit/tcp_recvmsg")
int BPF_PROG(fentry_exit) {
  tcp_call_returned();
  return 0;
}

SEC("kprobe/tcp_recvmsg")
int kprobe_entry(void *ctx) { return tcp_call_entered(); }

SEC("kretprobe/tcp_recvmsg")
int kprobe_return(void *ctx) {
  tcp_call_returned();
  return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter) { return tcp_call_entered(); }

SEC("tp_btf/sock_recv_length")
int BPF_PROG(sock_recv_length, struct sock *sk) { return tcp_call_told(sk); }
