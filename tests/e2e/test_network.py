# SPDX-License-Identifier: MIT
"""TCP over loopback: as many events as the program made."""

import socket
import time

import pytest

from load import own, run

CONNECTIONS, MESSAGES, SIZE = 20, 50, 100
FAMILIES = {4: "inet", 6: "inet6"}


@pytest.fixture
def echo(tmp_path):
    return own("tcp_echo", tmp_path)


def load(echo, family: int) -> dict[str, int]:
    return run(echo, family, CONNECTIONS, MESSAGES, SIZE)


@pytest.mark.parametrize("family", FAMILIES)
def test_sends_and_receives(collectd, echo, family):
    """Each call is one event, and the ends of the connections are received."""
    daemon = collectd(
        f"""
        <Probe "tcp_sendmsg">
          Process "{echo.name}"
        </Probe>
        <Probe "tcp_recvmsg">
          Process "{echo.name}"
        </Probe>
        """
    )
    truth = load(echo, family)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    assert csv.last("tcp_sendmsg", "derive", "count") == truth["sends"]
    assert csv.last("tcp_recvmsg", "derive", "count") == truth["receives"]


def test_sockets_that_are_not_tcp(collectd):
    """A pair of Unix sockets is none of the probe's business."""
    daemon = collectd('<Probe "tcp_sendmsg">\n</Probe>')
    before = daemon.csv().counter("tcp_sendmsg", "count")
    left, right = socket.socketpair()
    with left, right:
        for _ in range(1000):
            left.send(b"x")
            right.recv(1)
    daemon.settle()
    daemon.stop()
    assert daemon.csv().counter("tcp_sendmsg", "count") - before < 100


def refused_connects(count: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
    for _ in range(count):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)


def test_connects(collectd, echo):
    """By family; what was refused, or came from elsewhere, is not counted."""
    daemon = collectd(
        f"""
        <Probe "tcpconnect">
          Process "{echo.name}"
        </Probe>
        """
    )
    refused_connects(10)
    for family in FAMILIES:
        load(echo, family)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    for name in FAMILIES.values():
        count = csv.last(f"tcpconnect-{name}", "derive", "count")
        assert count == CONNECTIONS
    assert csv.last("tcpconnect", "derive", "lost-map_full") == 0


def test_connects_by_comm(collectd, echo):
    """They belong to who connects, though a packet completes them."""
    daemon = collectd('<Probe "tcpconnect">\nGroupBy "comm"\n</Probe>')
    load(echo, 4)
    daemon.settle()
    daemon.stop()
    count = daemon.csv().last(f"tcpconnect-{echo.name}", "derive", "count")
    assert count == CONNECTIONS


def test_round_trip_times(collectd, echo):
    """One at each segment that arrives; on loopback none is long."""
    daemon = collectd('<Probe "tcprtt">\n</Probe>')
    load(echo, 4)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    # Either way, less those that open and close a connection.
    assert csv.last("tcprtt-inet", "derive", "count") >= (
        2 * CONNECTIONS * MESSAGES * 0.9
    )
    longest = max(
        row.value for row in csv.series("tcprtt-inet", "latency", "max")
    )
    assert 0 < longest < 1e9


def test_receive_path(collectd, echo):
    """As many messages of each protocol through every phase as were sent;
    more than that only by what else uses loopback meanwhile. What UDP copies
    cannot be seen by every rung on every kernel."""
    daemon = collectd('<Probe "netrx">\n</Probe>')
    load(echo, 4)
    datagrams = run("udp_echo", 500, 100)["datagrams"]
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    messages = 2 * CONNECTIONS * MESSAGES
    sums = {}
    for phase in ("nic_to_socket", "socket_to_app", "total"):
        instance = f"netrx-tcp-{phase}"
        count = csv.last(instance, "derive", "count")
        assert messages <= count < messages + 100, instance
        sums[phase] = csv.last(instance, "derive", "sum")
    assert sums["total"] >= sums["socket_to_app"]
    count = csv.last("netrx-udp-nic_to_socket", "derive", "count")
    assert datagrams <= count < datagrams + 100
    count = csv.counter("netrx-udp-total", "count")
    assert count == 0 or datagrams <= count < datagrams + 100


def test_receive_path_of_a_slow_reader(collectd):
    """What waits in the socket shows, as long as it waited."""
    daemon = collectd('<Probe "netrx">\n</Probe>')
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as sender:
            receiver, _ = server.accept()
            with receiver:
                sender.send(b"x" * 100)
                time.sleep(0.3)
                receiver.recv(100)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    for phase in ("socket_to_app", "total"):
        rows = csv.series(f"netrx-tcp-{phase}", "latency", "max")
        assert 300e6 <= max(row.value for row in rows) < 1e9
    rows = csv.series("netrx-tcp-nic_to_socket", "latency", "max")
    assert max(row.value for row in rows) < 100e6
