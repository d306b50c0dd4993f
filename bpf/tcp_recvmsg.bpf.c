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
    .rungs = {{.name = "fentry",
               .programs = "fentry_exit fentry_entry",
               .maps = LATENCY_IN_TASK},
              {.name = "fentry+hash",
               .programs = "fentry_exit_by_pid fentry_entry_by_pid forget_pid",
               .maps = LATENCY_BY_PID},
              {.name = "kprobe",
               .programs = "kprobe_return kprobe_entry",
               .maps = LATENCY_IN_TASK},
              {.name = "kprobe+hash",
               .programs =
                   "kprobe_return_by_pid kprobe_entry_by_pid forget_pid",
               .maps = LATENCY_BY_PID},
              {.name = "sys_enter",
               .programs = "sock_recv_length sys_enter",
               .maps = LATENCY_IN_TASK}},
};

SEC("fentry/tcp_recvmsg")
int BPF_PROG(fentry_entry) { return tcp_call_entered(IN_TASK); }

SEC("fexit/tcp_recvmsg")
int BPF_PROG(fentry_exit) { return tcp_call_returned(IN_TASK); }

SEC("kprobe/tcp_recvmsg")
int kprobe_entry(void *ctx) { return tcp_call_entered(IN_TASK); }

SEC("kretprobe/tcp_recvmsg")
int kprobe_return(void *ctx) { return tcp_call_returned(IN_TASK); }

SEC("fentry/tcp_recvmsg")
int BPF_PROG(fentry_entry_by_pid) { return tcp_call_entered(BY_PID); }

SEC("fexit/tcp_recvmsg")
int BPF_PROG(fentry_exit_by_pid) { return tcp_call_returned(BY_PID); }

SEC("kprobe/tcp_recvmsg")
int kprobe_entry_by_pid(void *ctx) { return tcp_call_entered(BY_PID); }

SEC("kretprobe/tcp_recvmsg")
int kprobe_return_by_pid(void *ctx) { return tcp_call_returned(BY_PID); }

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter) { return tcp_call_entered(IN_TASK); }

SEC("tp_btf/sock_recv_length")
int BPF_PROG(sock_recv_length, struct sock *sk) { return tcp_call_told(sk); }
