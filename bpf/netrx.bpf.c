/* SPDX-License-Identifier: MIT */
/*
 * The receive path: a frame taken from the device, its data in the socket's
 * queue, the first of them copied to the application; as nic_to_socket,
 * socket_to_app and total. Of TCP and UDP.
 *
 * What is followed is the packet buffer, by its address, in a table with one
 * place for each: a later one takes the place, so that nothing has to be
 * deleted, and one that was pushed out is unmatched. TCP may join a segment's
 * data to the buffer before it; that buffer is then the one that is followed.
 */
#include "latency.bpf.h"

enum { PHASE_NIC_TO_SOCKET, PHASE_SOCKET_TO_APP, PHASE_TOTAL, PHASES };
enum { PROTOCOL_TCP, PROTOCOL_UDP };

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .name = "netrx",
    .help = "Receive path: frame received to in the socket to copied",
    .labels = {{.name = "protocol",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "tcp udp"},
               {.name = "phase",
                .decoder = LATENCY_DECODE_ENUM,
                .values = "nic_to_socket socket_to_app total",
                .inner = PHASES}},
    .rungs = {{.name = "fentry",
               .programs = "skb_copy_datagram_iovec skb_consume_udp "
                           "sock_def_readable netif_receive_skb"},
              {.name = "tp_btf",
               .programs = "skb_copy_datagram_iovec consume_skb sk_data_ready "
                           "netif_receive_skb"}},
};

#define PLACES_BITS 14

struct netrx_place {
  __u64 skb;
  __u64 received_ns;
  __u64 queued_ns; /* 0: not in a socket, or copied already */
  __u32 protocol;
  __u32 reserved;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1 << PLACES_BITS);
  __type(key, __u32);
  __type(value, struct netrx_place);
} places SEC(".maps");

/* Multiplicative hashing by the golden ratio: buffers lie 256 bytes apart. */
static __always_inline struct netrx_place *place_of(__u64 skb) {
  __u32 index = skb * 0x9e3779b97f4a7c15ull >> (64 - PLACES_BITS);
  return bpf_map_lookup_elem(&places, &index);
}

/* raw_tp: there the address is a number, which may be multiplied. */
SEC("raw_tp/netif_receive_skb")
int BPF_PROG(netif_receive_skb, __u64 skb) {
  struct netrx_place *place = place_of(skb);
  if (!place)
    return 0;
  place->skb = skb;
  place->queued_ns = 0;
  place->received_ns = bpf_ktime_get_ns();
  return 0;
}

/* The data are in the queue: those of its last buffer are the newest. */
static __always_inline int queued(const struct sock *sk) {
  __u32 protocol;
  if (sk->sk_protocol == IPPROTO_TCP)
    protocol = PROTOCOL_TCP;
  else if (sk->sk_protocol == IPPROTO_UDP)
    protocol = PROTOCOL_UDP;
  else
    return 0;
  __u64 skb = 0;
  bpf_core_read(&skb, sizeof(skb), &sk->sk_receive_queue.prev);
  if (skb == (__u64)&sk->sk_receive_queue)
    return 0; /* a state that changed, or the reader was faster */
  struct netrx_place *place = place_of(skb);
  if (!place || place->skb != skb) {
    latency_lose(LATENCY_LOST_UNMATCHED);
    return 0;
  }
  if (place->queued_ns)
    return 0; /* joined to one that has been seen */
  place->queued_ns = bpf_ktime_get_ns();
  place->protocol = protocol;
  if (latency_config.inner == PHASES)
    latency_record_span(latency_group(NULL, protocol, 0), PHASE_NIC_TO_SOCKET,
                        place->received_ns, place->queued_ns);
  return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(sk_data_ready, const struct sock *sk) { return queued(sk); }

/* Before 6.3 it has no tracepoint (commit 40e0b0908142 "net/sock: Introduce
 * trace_sk_data_ready()"). */
SEC("fentry/sock_def_readable")
int BPF_PROG(sock_def_readable, struct sock *sk) { return queued(sk); }

static __always_inline int copied(__u64 skb, __u32 protocol) {
  struct netrx_place *place = place_of(skb);
  if (!place || place->skb != skb || !place->queued_ns ||
      place->protocol != protocol)
    return 0;
  __u64 now = bpf_ktime_get_ns();
  __u64 queued_ns = place->queued_ns;
  place->skb = 0;
  __u32 group = latency_group(NULL, protocol, 0);
  if (latency_config.inner == PHASES)
    latency_record_span(group, PHASE_SOCKET_TO_APP, queued_ns, now);
  latency_record_span(group, latency_config.inner == PHASES ? PHASE_TOTAL : 0,
                      place->received_ns, now);
  return 0;
}

/* Of several copies out of one buffer the first is the end. */
SEC("raw_tp/skb_copy_datagram_iovec")
int BPF_PROG(skb_copy_datagram_iovec, __u64 skb) {
  return copied(skb, PROTOCOL_TCP);
}

/*
 * UDP copies what is in one piece without that tracepoint: the end is that it
 * is done with the datagram, right after. From 6.18 on that is not traced
 * either, and only fentry sees it.
 */
SEC("fentry/skb_consume_udp")
int BPF_PROG(skb_consume_udp, struct sock *sk, struct sk_buff *skb) {
  __u64 address = 0;
  bpf_probe_read_kernel(&address, sizeof(address), &ctx[1]);
  return copied(address, PROTOCOL_UDP);
}

SEC("raw_tp/consume_skb")
int BPF_PROG(consume_skb, __u64 skb) { return copied(skb, PROTOCOL_UDP); }
