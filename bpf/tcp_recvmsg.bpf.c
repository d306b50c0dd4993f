/* SPDX-License-Identifier: MIT */
/*
 * Receiving from a TCP socket: tcp_recvmsg() entered to returned, whatever it
 * returns, the end of the stream and errors too; waiting for data is part of
 * it.
 */
#define TCP_CALL_FUNCTION "tcp_recvmsg"
#define TCP_CALL_TOLD "sock_recv_length"
#include "tcp_call.bpf.h"

LATENCY_PROBE = {
    .abi_version = LATENCY_ABI_VERSION,
    .unit = LATENCY_UNIT_NS,
    .has_task = 1,
    .name = "tcp_recvmsg",
    .help = "TCP receives: tcp_recvmsg entered to returned",
    .rungs = TCP_CALL_RUNGS,
};
