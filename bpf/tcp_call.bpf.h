/* SPDX-License-Identifier: MIT */
/*
 * What tcp_sendmsg and tcp_recvmsg share: a function of TCP's that a task
 * calls, and returns from, within one system call.
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

#endif
