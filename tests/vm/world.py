# SPDX-License-Identifier: MIT
"""Known truths: a disk and a network that take a given time, and what the
kernel itself counts. Where the kernel lacks the means there is no lower bound.
"""

import mmap
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from block import LoopDevice
from lab import Lab

COMPLETION_NS = 5_000_000
DELAY_MS = 10


def kernel_version() -> tuple[int, ...]:
    return tuple(map(int, os.uname().release.split(".")[:2]))


def try_run(*command: object) -> bool:
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True
    )
    return done.returncode == 0


class Disk:
    """null_blk that completes each request after COMPLETION_NS, else a loop
    device, which has no such bound."""

    def __init__(self, lab: Lab):
        null_blk = ["modprobe", "null_blk", "nr_devices=1", "irqmode=2"]
        if try_run(*null_blk, f"completion_nsec={COMPLETION_NS}"):
            lab.undo.callback(try_run, "modprobe", "-r", "null_blk")
            self.name = "nullb0"
            self.at_least_ns = COMPLETION_NS
        else:
            image = lab.directory / "loop.img"
            device = LoopDevice(image, size=64 << 20)
            lab.undo.callback(device.detach)
            self.name = device.name
            self.at_least_ns = 0
        self.path = f"/dev/{self.name}"

    def read(self, count: int, size: int) -> None:
        """That many reads past the page cache."""
        with mmap.mmap(-1, size) as buffer:
            file = os.open(self.path, os.O_RDONLY | os.O_DIRECT)
            for number in range(count):
                assert os.preadv(file, [buffer], number * size) == size
            os.close(file)


def slow_loopback(lab: Lab) -> float:
    """Each packet on loopback takes DELAY_MS, where the kernel can; returns
    the shortest round trip in ns, or 0."""
    qdisc = ["dev", "lo", "root", "netem"]
    if not try_run("tc", "qdisc", "add", *qdisc, "delay", f"{DELAY_MS}ms"):
        return 0
    lab.undo.callback(try_run, "tc", "qdisc", "del", *qdisc)
    return 2 * DELAY_MS * 1e6


@contextmanager
def talk(kind: socket.SocketKind):
    """Two sockets on loopback that are connected, one to send."""
    with socket.socket(socket.AF_INET, kind) as server:
        server.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            server.listen()
        with socket.socket(socket.AF_INET, kind) as sender:
            sender.connect(server.getsockname())
            if kind == socket.SOCK_DGRAM:
                yield sender, server
                return
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            receiver, _ = server.accept()
            with receiver:
                yield sender, receiver


def proc_softirqs() -> dict[str, int]:
    lines = Path("/proc/softirqs").read_text().splitlines()[1:]
    return {
        vector.rstrip(":").lower(): sum(map(int, counts))
        for vector, *counts in (line.split() for line in lines)
    }


def proc_interrupts() -> int:
    """Of all lines that have a handler of their own: those with a number."""
    cpus, *lines = Path("/proc/interrupts").read_text().splitlines()
    total = 0
    for line in lines:
        name, *rest = line.split()
        if name.rstrip(":").isdigit():
            total += sum(map(int, rest[: len(cpus.split())]))
    return total


# Maps the file anew each time: what is mapped does not leave memory.
TOUCHER = """
import mmap, os, sys
path, fresh, cold = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for line in sys.stdin:
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    with mmap.mmap(file, 0, prot=mmap.PROT_READ) as pages:
        pages.madvise(mmap.MADV_RANDOM)
        for page in range(cold):
            pages[page * mmap.PAGESIZE]
    os.close(file)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    with mmap.mmap(-1, fresh * mmap.PAGESIZE, flags) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(fresh):
            memory[page * mmap.PAGESIZE] = 1
    print("done", flush=True)
"""


class Toucher:
    """A process that stands still but when it is told to fault: on fresh
    pages, and on pages of a file that are not in memory."""

    def __init__(self, lab: Lab, fresh: int, cold: int):
        self.file = Path(os.environ["EBPF_LATENCY_BUILDDIR"]) / "libtool"
        command = [sys.executable, "-c", TOUCHER, self.file, fresh, cold]
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        lab.undo.callback(self.process.wait)
        lab.undo.callback(self.process.kill)
        self.pid = self.process.pid

    def touch(self) -> None:
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def faults(self) -> tuple[int, int]:
        """Minor and major ones so far, by the kernel's own count."""
        text = Path(f"/proc/{self.pid}/stat").read_text()
        fields = text.rpartition(") ")[2].split()
        return int(fields[7]), int(fields[9])
