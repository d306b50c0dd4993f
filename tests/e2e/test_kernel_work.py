# SPDX-License-Identifier: MIT
"""Off-CPU time, sizes of requests, interrupts: against the program's own
counts or the kernel's."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from load import Load, own, run


def test_off_cpu_by_state(collectd, tmp_path):
    """Sleeps are interruptible, and as long as they were asked to be."""
    sleeper = own("sleep_loop", tmp_path)
    daemon = collectd(
        f'<Probe "offcpu">\nProcess "{sleeper.name}"\n</Probe>'
    )
    run(sleeper, 100, 20_000_000)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    count = csv.last("offcpu-interruptible", "derive", "count")
    total_ns = csv.last("offcpu-interruptible", "derive", "sum")
    # One that is preempted on its way to sleep until its time is up was
    # runnable, which takes a machine that is busy with something else.
    assert 97 <= count < 110
    assert count * 20e6 * 0.95 <= total_ns < count * 25e6


def test_off_cpu_of_spinners(collectd, tmp_path):
    """Who is preempted all the time was runnable: its wait in schedstat."""
    names = {"off_a", "off_b"}
    daemon = collectd(
        """
        <Probe "offcpu">
          GroupBy "comm" "state"
          Process "off_a" "off_b"
        </Probe>
        """
    )
    spinners = {name: Load("spin", 3, 1, name) for name in names}
    truth = {name: load.results() for name, load in spinners.items()}
    daemon.settle()
    daemon.stop()
    for name in names:
        off_ns = daemon.csv().last(f"offcpu-{name}-runnable", "derive", "sum")
        assert off_ns == pytest.approx(truth[name]["wait_ns"], rel=0.05)


def test_sizes_of_requests(collectd, loop_device):
    """The unit is bytes: type, bounds and values."""
    daemon = collectd('<Probe "iosize">\n</Probe>')
    sizes = {4096: 300, 16384: 100, 65536: 50}
    for size, count in sizes.items():
        run("direct_write", loop_device.path, count, size)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    instance = f"iosize-{loop_device.name}-write"
    buckets = {
        int(bound): rows[-1].value
        for bound, rows in csv.buckets(instance).items()
        if rows[-1].value
    }
    assert buckets == sizes
    total = sum(size * count for size, count in sizes.items())
    assert csv.last(instance, "derive", "sum") == total
    largest = max(row.value for row in csv.series(instance, "bytes", "max"))
    assert largest == 65536


def proc_softirqs() -> dict[str, int]:
    lines = Path("/proc/softirqs").read_text().splitlines()[1:]
    return {
        vector.rstrip(":").lower(): sum(map(int, counts))
        for vector, *counts in (line.split() for line in lines)
    }


def proc_interrupts() -> int:
    """Of all lines with a handler of their own: those with a number."""
    cpus, *lines = Path("/proc/interrupts").read_text().splitlines()
    total = 0
    for line in lines:
        name, *rest = line.split()
        if name.rstrip(":").isdigit():
            total += sum(map(int, rest[: len(cpus.split())]))
    return total


def busy(seconds: float, directory: Path, echo: Path) -> None:
    """Network and disk load: packets on loopback, writes past the cache."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        run(echo, 4, 5, 2000, 100)
        subprocess.run(
            ["dd", "if=/dev/zero", f"of={directory / 'file'}", "bs=16k"]
            + ["count=500", "oflag=direct", "status=none"],
            check=True,
        )
    os.unlink(directory / "file")


def next_read(daemon) -> None:
    """Returns right after a read, so that what /proc has then is the same."""
    daemon.wait_for_reads(1)


def test_interrupts_under_load(collectd, tmp_path):
    """Within 1 % of the kernel's counters, read when the plugin reads."""
    echo = own("tcp_echo", tmp_path)
    daemon = collectd(
        '<Probe "softirq">\n</Probe>\n<Probe "hardirq">\n</Probe>'
    )

    def counted() -> tuple[dict[str, int], int]:
        csv = daemon.csv()
        soft = {
            vector: csv.counter(f"softirq-{vector}-service", "count")
            for vector in proc_softirqs()
        }
        hard = sum(
            csv.counter(instance, "count")
            for instance in csv.instances()
            if instance.startswith("hardirq-")
        )
        return soft, hard

    # A label set has series from its first event on: have one of each.
    busy(2, tmp_path, echo)
    next_read(daemon)
    soft_before, hard_before = proc_softirqs(), proc_interrupts()
    ours_before = counted()
    busy(30, tmp_path, echo)
    next_read(daemon)
    soft_after, hard_after = proc_softirqs(), proc_interrupts()
    ours_after = counted()
    daemon.stop()

    checked = 0
    for vector in soft_after:
        truth = soft_after[vector] - soft_before[vector]
        ours = ours_after[0][vector] - ours_before[0][vector]
        # 1 %, and what may happen between the read and ours of /proc
        assert ours == pytest.approx(truth, rel=0.01, abs=30), vector
        checked += truth > 3000
    assert checked >= 2, "the load was no load"
    assert ours_after[1] - ours_before[1] == pytest.approx(
        hard_after - hard_before, rel=0.01, abs=30
    )
    csv = daemon.csv()
    for probe in ("softirq", "hardirq"):
        assert csv.last(probe, "derive", "lost-missed") == 0
        assert csv.last(probe, "derive", "lost-negative") == 0
