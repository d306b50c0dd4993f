# SPDX-License-Identifier: MIT
"""What depends on the kernel is never fatal: collectd and its other plugins
go on, a probe that cannot run says so once, with what is missing."""

import os
import re
import shutil
import stat
from pathlib import Path

import pytest

from daemon import PROBE_DIR, in_namespace, load_own_plugin

PROBES = ("runqlat", "memlat", "iolat")
BTF = "/sys/kernel/btf/vmlinux"

WITHOUT_CAP_BPF = [
    "setpriv",
    "--bounding-set=-bpf,-perfmon,-sys_admin",
    "--inh-caps=-bpf,-perfmon,-sys_admin",
]
WITHOUT_BTF = in_namespace(f'mount --bind /dev/null "{BTF}"')

# Wherever it is mounted, and if nowhere, so much the better.
WITHOUT_TRACEFS = in_namespace(
    """
    awk '$3 == "tracefs" || $3 == "debugfs" { print $2 }' /proc/mounts |
      while read -r directory; do umount --lazy "$directory"; done
    ! grep -qE ' (tracefs|debugfs) ' /proc/mounts
    """
)

CASES = {
    "no CAP_BPF": (WITHOUT_CAP_BPF, 0, "CAP_BPF"),
    "BTF hidden": (WITHOUT_BTF, 0, BTF),
    "tracefs not mounted": (WITHOUT_TRACEFS, 1, None),
}


def assert_goes_on(daemon):
    """The other plugin publishes, and all ends well."""
    daemon.wait_for_reads(2)
    assert daemon.stop() <= 2
    assert daemon.process.returncode == 0
    assert len(daemon.csv("uptime").series("", "uptime")) >= 2


@pytest.mark.parametrize("condition", CASES)
def test_condition(collectd, condition):
    wrapper, up, missing = CASES[condition]
    daemon = collectd(wrapper=wrapper, plugin_lines="LoadPlugin uptime\n")
    assert_goes_on(daemon)

    csv = daemon.csv()
    for probe in PROBES:
        assert {row.value for row in csv.series(probe, "gauge", "up")} == {up}
        complaints = [
            line
            for line in daemon.own_log("error", "warning")
            if f": {probe}: " in line
        ]
        assert len(complaints) == (0 if up else 1)
        assert all(missing in line for line in complaints)


@pytest.fixture
def probe_dir(tmp_path) -> Path:
    directory = tmp_path / "probes"
    directory.mkdir()
    for path in PROBE_DIR.glob("*.bpf.o"):
        shutil.copy(path, directory)
    return directory


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:1000]),
        lambda path: path.write_text("no object file"),
        lambda path: path.chmod(path.stat().st_mode | stat.S_IWOTH),
        lambda path: os.chown(path, 65534, -1),
    ],
    ids=["absent", "empty", "cut", "text", "writable", "not root's"],
)
def test_object_file_of_one_probe(collectd, probe_dir, damage):
    """It is off; the other two measure."""
    path = probe_dir / "memlat.bpf.o"
    damage(path)
    daemon = collectd(
        own_lines=load_own_plugin(probe_dir=probe_dir),
        plugin_lines="LoadPlugin uptime\n",
    )
    assert_goes_on(daemon)
    up = {probe: daemon.csv().last(probe, "gauge", "up") for probe in PROBES}
    assert up == {"runqlat": 1, "memlat": 0, "iolat": 1}
    (complaint,) = daemon.own_log("error", "warning")
    assert "memlat" in complaint and str(path) in complaint


@pytest.fixture
def ladder_dir(probe_dir) -> Path:
    test_probes = PROBE_DIR.parent / "tests" / "bpf"
    shutil.copy(test_probes / "ladder.bpf.o", probe_dir)
    return probe_dir


def test_forced_rung(collectd, ladder_dir):
    """One that no kernel has: off, and the log names the hook."""
    block = '<Probe "ladder">\nRung "nowhere"\n</Probe>'
    daemon = collectd(own_lines=load_own_plugin(block, ladder_dir))
    daemon.stop()
    assert daemon.csv().last("ladder", "gauge", "up") == 0
    (complaint,) = daemon.own_log("error", "warning")
    assert "rung nowhere: " in complaint
    assert "latency_no_such_hook" in complaint


def test_unknown_rung(collectd, ladder_dir):
    block = '<Probe "ladder">\nRung "up"\n</Probe>'
    daemon = collectd.configure(own_lines=load_own_plugin(block, ladder_dir))
    assert daemon.run("-T").returncode != 0
    (complaint,) = daemon.own_log("error", "warning")
    for word in ('<Probe "ladder">', 'Rung "up"', "nowhere, fentry, tp_btf"):
        assert word in complaint


def test_ladder_takes_the_next_rung(collectd, ladder_dir):
    """A probe of a user's own, dropped into ProbeDir: its first rung is on no
    kernel, the others count this process's umask(2) calls."""
    block = f'<Probe "ladder">\nPid {os.getpid()}\n</Probe>'
    daemon = collectd(own_lines=load_own_plugin(block, ladder_dir))
    mask = os.umask(0)
    for _ in range(99):
        os.umask(mask)
    daemon.settle()
    daemon.stop()

    assert not daemon.own_log("error", "warning")
    (line,) = [line for line in daemon.own_log("info") if ": ladder: " in line]
    assert re.search(r"rung (fentry|tp_btf)\b", line)
    csv = daemon.csv()
    assert csv.last("ladder", "gauge", "up") == 1
    assert csv.last("ladder", "derive", "count") == 100
    assert csv.last("ladder", "derive", "bucket-4096") == 100
    p50 = csv.series("ladder", "bytes", "percentile-50")[-1].value
    assert p50 == pytest.approx(4096, rel=1 / 16)
    assert csv.last("ladder", "bytes", "max") == 4096
