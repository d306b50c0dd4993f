/* SPDX-License-Identifier: MIT */
/*
 * What tcp_sendmsg and tcp_recvmsg share: all but two names. TCP_CALL_FUNCTION
 * is a function of TCP's that a task calls, and returns from, within one system
 * call; TCP_CALL_TOLD the tracepoint at which the socket layer tells the
 * result.
 *
 * Where neither fentry nor kprobe may be had, the span begins with the system
 * call and ends where the socket layer tells the result: what lies between the
 * entry of the call and that of the function (finding the socket, copying the
 * message's header) is measured with it.
 */
#ifndef TCP_CALL_BPF_H
#define TCP_CALL_BPF_H

#include "task.bpf.h"

static __always_inline int tcp_call_entered(enum latency_keeper keeper) {
  struct latency_start *start = latency_start_of_current(keeper);
  if (start)
    start->ns = bpf_ktime_get_ns();
  return 0;
}

static __always_inline int tcp_call_returned(enum latency_keeper keeper) {
  __u64 now = bpf_ktime_get_ns();
  __u64 since = latency_take_start_of_current(keeper, NULL);
  if (!since)
    return 0;
  if (latency_wants_current())
    latency_record_span(latency_group_of_current(0, 0), 0, since, now);
  else
    latency_lose(LATENCY_LOST_FILTERED);
  return 0;
}

/* One system call may send or receive several messages: the next one begins
 * where this one ended. */
static __always_inline int tcp_call_told(const struct sock *sk) {
  if (sk->sk_protocol != IPPROTO_TCP ||
      (sk->__sk_common.skc_family != AF_INET &&
       sk->__sk_common.skc_family != AF_INET6))
    return 0;
  tcp_call_returned(IN_TASK);
  struct latency_start *start =
      bpf_task_storage_get(&starts, bpf_get_current_task_btf(), NULL, 0);
  if (start)
    start->ns = bpf_ktime_get_ns();
  return 0;
}

/* clang-format off */
#define TCP_CALL_RUNGS                                                         \
  {{.name = "fentry",                                                          \
    .programs = "fentry_exit fentry_entry",                                    \
    .maps = LATENCY_IN_TASK},                                                  \
   {.name = "fentry+hash",                                                     \
    .programs = "fentry_exit_by_pid fentry_entry_by_pid forget_pid",           \
    .maps = LATENCY_BY_PID},                                                   \
   {.name = "kprobe",                                                          \
    .programs = "kprobe_return kprobe_entry",                                  \
    .maps = LATENCY_IN_TASK},                                                  \
   {.name = "kprobe+hash",                                                     \
    .programs = "kprobe_return_by_pid kprobe_entry_by_pid forget_pid",         \
    .maps = LATENCY_BY_PID},                                                   \
   {.name = "sys_enter",                                                       \
    .programs = "told sys_enter",                                              \
    .maps = LATENCY_IN_TASK}}
/* clang-format on */

SEC("fentry/" TCP_CALL_FUNCTION)
int BPF_PROG(fentry_entry) { return tcp_call_entered(IN_TASK); }

SEC("fexit/" TCP_CALL_FUNCTION)
int BPF_PROG(fentry_exit) { return tcp_call_returned(IN_TASK); }

SEC("kprobe/" TCP_CALL_FUNCTION)
int kprobe_entry(void *ctx) { return tcp_call_entered(IN_TASK); }

SEC("kretprobe/" TCP_CALL_FUNCTION)
int kprobe_return(void *ctx) { return tcp_call_returned(IN_TASK); }

SEC("fentry/" TCP_CALL_FUNCTION)
int BPF_PROG(fentry_entry_by_pid) { return tcp_call_entered(BY_PID); }

SEC("fexit/" TCP_CALL_FUNCTION)
int BPF_PROG(fentry_exit_by_pid) { return tcp_call_returned(BY_PID); }

SEC("kprobe/" TCP_CALL_FUNCTION)
int kprobe_entry_by_pid(void *ctx) { return tcp_call_entered(BY_PID); }

SEC("kretprobe/" TCP_CALL_FUNCTION)
int kprobe_return_by_pid(void *ctx) { return tcp_call_returned(BY_PID); }

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter) { return tcp_call_entered(IN_TASK); }

SEC("tp_btf/" TCP_CALL_TOLD)
int BPF_PROG(told, struct sock *sk) { return tcp_call_told(sk); }

#endif
