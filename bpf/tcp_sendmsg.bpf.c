/* SPDX-License-Identifier: MIT */
/*
 * Sending on a TCP socket: tcp_sendmsg() entered to returned, whoever calls it
 * and whatever it returns, errors too.
 */
#define TCP_CALL_FUNCTION "tcp_sendmsg"
#define TCP_CALL_TOLD "sock_send_length"
#include "tcp_call.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "tcp_sendmsg",
    .help = "TCP sends: tcp_sendmsg entered to returned",
    .rungs = TCP_CALL_RUNGS,
};
