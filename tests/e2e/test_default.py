# SPDX-License-Identifier: MIT
"""`LoadPlugin ebpf_latency` as a user has it: installed, with no block."""

import os
import signal
import subprocess
import time
from pathlib import Path

from bpf_objects import held_by, left_of
from daemon import SRCDIR, in_namespace
from load import run

PROBES = ("runqlat", "memlat", "iolat")
LOST = ("filtered", "unmatched", "negative", "map_full", "busy", "missed")
BOUNDS = [str(2**exponent) for exponent in range(8, 35)] + ["inf"]


def as_installed(installed) -> list[str]:
    """The installed plugin directory in its place, seen by one process."""
    staged, place = installed
    return in_namespace(f'mount --bind "{staged}" "{place}"')


def test_load_plugin_with_no_block(collectd, installed, loop_device):
    daemon = collectd(
        own_lines="LoadPlugin ebpf_latency\n", wrapper=as_installed(installed)
    )
    run("direct_write", loop_device.path, 100, 4096)
    daemon.wait_for_reads(3)
    ours = held_by(daemon.process.pid)
    assert all(ours.values()), "programs, maps and links while it runs"

    stop_s = daemon.stop()
    assert stop_s <= 2
    assert daemon.process.returncode == 0
    assert not left_of(ours)

    csv = daemon.csv()
    for probe in PROBES:
        assert csv.last(probe, "gauge", "up") == 1
        for reason in LOST:
            csv.last(probe, "derive", f"lost-{reason}")
    device = loop_device.name
    for instance in ("runqlat", "memlat-minor", f"iolat-{device}-write-total"):
        assert csv.last(instance, "derive", "count") > 0
        assert csv.last(instance, "derive", "sum") > 0
        for name in ("50", "90", "99", "99.9"):
            assert csv.series(instance, "latency", f"percentile-{name}")
        assert csv.series(instance, "latency", "max")
        assert csv.series(instance, "latency", "average")
        assert list(csv.buckets(instance)) == BOUNDS


def test_sigkill_leaves_nothing_in_the_kernel(collectd):
    daemon = collectd()
    ours = held_by(daemon.process.pid)
    assert all(ours.values())
    daemon.stop(signal.SIGKILL)
    assert not left_of(ours)


def test_sigterm_before_the_first_read(collectd):
    """Stopped while it starts: no crash, no long wait, nothing left."""
    daemon = collectd.configure()
    daemon.start()
    time.sleep(0.1)
    ours = held_by(daemon.process.pid)
    assert daemon.stop() <= 2
    assert daemon.process.returncode in (0, -signal.SIGTERM)
    assert not left_of(ours)


def test_in_the_background(collectd):
    """As a service: what is loaded belongs to the process that stays."""
    daemon = collectd.configure()
    subprocess.run(daemon.command(), check=True, stdout=subprocess.DEVNULL)
    pid_file = daemon.directory / "collectd.pid"
    wait_for(lambda: pid_file.exists() and pid_file.read_text().strip())
    pid = int(pid_file.read_text())
    try:
        daemon.wait_for_reads(2)
        ours = held_by(pid)
    finally:
        os.kill(pid, signal.SIGTERM)
        wait_for(lambda: not Path(f"/proc/{pid}").exists())
    assert all(ours.values())
    assert not left_of(ours)
    csv = daemon.csv()
    assert all(csv.last(probe, "gauge", "up") == 1 for probe in PROBES)
    assert csv.last("runqlat", "derive", "count") > 0


def wait_for(condition) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_sample_configuration(collectd, installed):
    """collectd -T: parses it, starts every plugin and reads once."""
    sample = SRCDIR / "conf" / "ebpf_latency.conf"
    daemon = collectd.configure(
        own_lines=f'Include "{sample}"\n', wrapper=as_installed(installed)
    )
    tested = daemon.run("-T")
    assert tested.returncode == 0, tested.stdout
    assert not daemon.own_log("error", "warning")
    assert any(": measuring" in line for line in daemon.own_log("info"))
