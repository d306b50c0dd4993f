# SPDX-License-Identifier: MIT
"""For each probe a closed experiment: a known number of events of a known kind
goes in, the same number comes out, under the right label and no shorter than
they can be. Never a speed: these machines are emulated.

The function of a probe bears its name. A probe without one fails.
"""

import os
import socket
import time
from pathlib import Path

import load
from lab import Lab, Wrong, between, equal, near
from world import (
    Disk,
    Toucher,
    kernel_version,
    proc_interrupts,
    proc_softirqs,
    slow_loopback,
    talk,
)

SHARE = Path(os.environ["SHARE"])
NAP_NS = 20_000_000
NAPS = 20


def warm(program, *arguments: object) -> None:
    """Runs it once before anything is measured: it is in memory from then."""
    load.run(program, *arguments)


def runqlat(lab: Lab) -> None:
    """Two that want one CPU wait as long as the scheduler says they do."""
    names = [load.unique("a"), load.unique("b")]
    quoted = " ".join(f'"{name}"' for name in names)
    lab.start('GroupBy "comm"', f"Process {quoted}")
    spinners = {name: load.Load("spin", 2, 0, name) for name in names}
    truth = {name: spinner.results() for name, spinner in spinners.items()}
    lab.finish()
    for name, schedstat in truth.items():
        # What it waits for to start and to end comes on top.
        truth_ns = schedstat["wait_ns"]
        near("summed wait", lab.sum_ns(name), truth_ns, 0.1, extra=3e8)


def offcpu(lab: Lab) -> None:
    """Sleeps are interruptible and nearly as long as they were asked to be:
    the timer runs already while the task is on its way to sleep."""
    sleeper = lab.own("sleep_loop")
    warm(sleeper, 1, 1)
    lab.start(f'Process "{sleeper.name}"')
    load.run(sleeper, 10, 10 * NAP_NS)
    lab.finish()
    equal("sleeps", lab.above(5 * NAP_NS, "interruptible"), 10)


def syscall(lab: Lab) -> None:
    """Calls of two names, one of them of a known length."""
    caller, sleeper = lab.own("getppid_loop"), lab.own("sleep_loop")
    lab.start(
        'GroupBy "syscall"',
        'Syscall "getppid" "clock_nanosleep"',
        f'Process "{caller.name}" "{sleeper.name}"',
    )
    load.run(caller, 2, 2000, 0)
    load.run(sleeper, NAPS, NAP_NS)
    lab.finish()
    lab.expect("getppid", 2000)
    lab.expect("clock_nanosleep", NAPS, NAP_NS)


def memlat(lab: Lab) -> None:
    """As many of either kind as the kernel charges the process."""
    toucher = Toucher(lab, fresh=2000, cold=20)
    toucher.touch()
    lab.start(f"Pid {toucher.pid}")
    before = toucher.faults()
    toucher.touch()
    after = toucher.faults()
    lab.finish()
    minor, major = (now - old for now, old in zip(after, before))
    between("minor faults of the load", minor, 2000, 4000)
    between("major faults of the load", major, 20, 200)
    lab.expect("minor", minor)
    lab.expect("major", major)


def iolat(lab: Lab) -> None:
    """Requests of two kinds, which the device takes a given time for."""
    disk = Disk(lab)
    warm("direct_write", disk.path, 1, 4096)
    lab.start()
    load.run("direct_write", disk.path, 50, 4096)
    disk.read(30, 4096)
    lab.finish()
    for op, count in (("write", 50), ("read", 30)):
        lab.expect(f"{disk.name}-{op}-queue", count)
        lab.expect(f"{disk.name}-{op}-device", count, disk.at_least_ns)
        lab.expect(f"{disk.name}-{op}-total", count, disk.at_least_ns)


def iosize(lab: Lab) -> None:
    """Requests of two sizes."""
    disk = Disk(lab)
    sizes = {4096: 30, 65536: 10}
    warm("direct_write", disk.path, 1, 4096)
    lab.start()
    for size, count in sizes.items():
        load.run("direct_write", disk.path, count, size)
    disk.read(20, 16384)
    lab.finish()
    for op, truth in (("write", sizes), ("read", {16384: 20})):
        buckets = lab.buckets(f"{disk.name}-{op}")
        if buckets != truth:
            raise Wrong(f"sizes of {op}: {buckets}, not {truth}")


def softirq(lab: Lab) -> None:
    """What /proc/softirqs counts meanwhile, under network load."""
    program = lab.own("tcp_echo")
    lab.start()

    def counted() -> dict[str, int]:
        csv = lab.daemon.csv()
        return {
            vector: csv.counter(f"softirq-{vector}-service", "count")
            for vector in proc_softirqs()
        }

    # A label set has series from its first event on: have one of each.
    load.run(program, 4, 5, 20, 100)
    lab.daemon.settle()
    truth_before, before = proc_softirqs(), counted()
    load.run(program, 4, 20, 100, 100)
    lab.daemon.settle()
    truth_after, after = proc_softirqs(), counted()
    lab.finish()
    for vector in ("net_rx", "timer"):
        truth = truth_after[vector] - truth_before[vector]
        between(f"{vector} of the load", truth, 20, float("inf"))
        got = after[vector] - before[vector]
        near(f"count of {vector}", got, truth, 0.02, extra=100)


def hardirq(lab: Lab) -> None:
    """What /proc/interrupts counts meanwhile, while a file is written to the
    disk or to the machine outside."""
    lab.start()

    def write(count: int) -> None:
        file = os.open(SHARE / "written", os.O_WRONLY | os.O_CREAT)
        for _ in range(count):
            os.write(file, b"x" * 4096)
            os.fsync(file)
        os.close(file)

    def counted() -> int:
        csv = lab.daemon.csv()
        return sum(csv.counter(name, "count") for name in csv.instances())

    write(10)
    lab.daemon.settle()
    truth_before, before = proc_interrupts(), counted()
    write(300)
    lab.daemon.settle()
    truth_after, after = proc_interrupts(), counted()
    lab.finish()
    truth = truth_after - truth_before
    between("interrupts of the load", truth, 300, float("inf"))
    near("count", after - before, truth, 0.02, extra=30)


def tcp_calls(lab: Lab, kind: str) -> None:
    program = lab.own("tcp_echo")
    lab.start(f'Process "{program.name}"')
    truth = [load.run(program, family, 5, 100, 100) for family in (4, 6)]
    lab.finish()
    lab.expect("", sum(results[kind] for results in truth))


def tcp_sendmsg(lab: Lab) -> None:
    """Each call is one event."""
    tcp_calls(lab, "sends")


def tcp_recvmsg(lab: Lab) -> None:
    """Each call is one event, the end of a connection too."""
    tcp_calls(lab, "receives")


def tcpconnect(lab: Lab) -> None:
    """Connections of two families, which take a round trip."""
    program = lab.own("tcp_echo")
    round_trip_ns = slow_loopback(lab)
    lab.start(f'Process "{program.name}"')
    for family, count in ((4, 10), (6, 5)):
        load.run(program, family, count, 1, 100)
    lab.finish()
    lab.expect("inet", 10, round_trip_ns)
    lab.expect("inet6", 5, round_trip_ns)


def tcprtt(lab: Lab) -> None:
    """A time at each segment that arrives at either end, and none shorter than
    packets take; connecting and closing have segments of their own."""
    program = lab.own("tcp_echo")
    round_trip_ns = slow_loopback(lab)
    lab.start()
    load.run(program, 4, 5, 20, 100)
    lab.finish()
    segments = 2 * 5 * 20
    count = lab.count("inet")
    between("count of inet", count, segments * 0.9, segments * 2)
    lab.expect("inet", count, round_trip_ns)


def netrx(lab: Lab) -> None:
    """Messages that lie in a socket for a known time before they are read."""
    lab.start()
    with talk(socket.SOCK_DGRAM) as (sender, receiver):
        for _ in range(10):
            sender.send(b"x")
        time.sleep(NAP_NS / 1e9)
        for _ in range(10):
            receiver.recv(1)
    with talk(socket.SOCK_STREAM) as (sender, receiver):
        for _ in range(10):
            sender.send(b"x")
            time.sleep(NAP_NS / 1e9)
            receiver.recv(1)
        # The end of a connection would be one more that reaches the socket.
        lab.finish()
    protocols = ["tcp", "udp"]
    if lab.rung == "tp_btf" and not lab.count("udp-total"):
        # From 6.18 on this rung does not see the copy of a datagram.
        if kernel_version() < (6, 18):
            raise Wrong("no datagram is seen to be copied")
        protocols.remove("udp")
    lab.expect("udp-nic_to_socket", 10)
    lab.expect("tcp-nic_to_socket", 10)
    for protocol in protocols:
        # It may reach the socket a little after it was sent.
        lab.expect(f"{protocol}-socket_to_app", 10, NAP_NS / 2)
        lab.expect(f"{protocol}-total", 10, NAP_NS / 2)


MALLOC_CLASSES = (4, 16, 128, 256, 1 << 15, 1 << 18, 1 << 22)


def malloc(lab: Lab) -> None:
    """As many of each size as the program asks for."""
    program = lab.own("mallocs")
    lab.start('GroupBy "size"', f'Process "{program.name}"')
    truth = load.run(program, 2, 50)["mallocs_each"]
    lab.finish()
    for size in MALLOC_CLASSES:
        lab.expect(str(size), truth)


def functions(binary: Path | None, symbols: dict[str, str]) -> list[str]:
    lines = []
    for name, symbol in symbols.items():
        lines += [f'<Function "{name}">', f'Symbol "{symbol}"']
        lines += [f'Binary "{binary}"'] if binary else []
        lines += ["</Function>"]
    return lines


def funclat(lab: Lab) -> None:
    """Functions of a program, or what they call in the kernel: one that takes
    its time, one that is called three times as often, one that is in C++."""
    program = lab.own("calls")
    process = f'Process "{program.name}"'
    if lab.rung.startswith("uprobe"):
        symbols = {
            "nap": "load_sleep",
            "inner": "load_inner",
            "send": "load::Queue::send",
        }
        lab.start(process, *functions(program, symbols))
    else:
        symbols = {"nap": "__x64_sys_clock_nanosleep"}
        lab.start(process, *functions(None, symbols))
    load.run(program, NAPS, NAP_NS)
    lab.finish()
    lab.expect("nap", NAPS, NAP_NS)
    if "inner" in symbols:
        lab.expect("inner", 3 * NAPS)
        lab.expect("send", NAPS)
