# SPDX-License-Identifier: MIT
"""What is counted is what happened: known loads, the kernel's own counters."""

import pytest

from block import DiskStats
from csv_files import Row
from load import Load, own, run, unique

CALLS = 1_000_000
PHASES = ("queue", "device", "total")
OPS = ("read", "write", "discard", "flush")


def test_a_million_system_calls_from_four_threads(collectd, tmp_path):
    caller = own("getppid_loop", tmp_path)
    daemon = collectd(
        f"""
        <Probe "syscall">
          GroupBy "syscall"
          Syscall "getppid"
          Process "{caller.name}"
        </Probe>
        """
    )
    run(caller, 4, CALLS, 4)
    daemon.settle()
    daemon.stop()

    csv = daemon.csv()
    increments = csv.derive_delta("syscall-getppid", "count")
    assert sum(row.value for row in increments) == CALLS
    assert sum(row.value > 0 for row in increments) >= 4
    buckets = csv.buckets("syscall-getppid").values()
    assert sum(rows[-1].value for rows in buckets) == CALLS


def test_a_million_system_calls_as_fast_as_they_go(collectd, tmp_path):
    """No pause between them, two threads on each CPU that preempt another."""
    caller = own("getppid_loop", tmp_path)
    daemon = collectd(f'<Probe "syscall">\nProcess "{caller.name}"\n</Probe>')
    run(caller, 4, CALLS, 0)
    daemon.settle()
    daemon.stop()
    count = daemon.csv().last("syscall", "derive", "count")
    # and what any program calls: start, threads, end
    assert CALLS < count < CALLS + 500


def test_sleeps_of_10_ms_then_of_100_ms(collectd, tmp_path):
    sleeper = own("sleep_loop", tmp_path)
    daemon = collectd(
        f"""
        <Probe "syscall">
          GroupBy "syscall"
          Syscall "clock_nanosleep"
          Process "{sleeper.name}"
        </Probe>
        """
    )
    # Ahead of others on a busy machine: it is not they that are measured.
    urgent = ["nice", "-n", "-20"]
    run(sleeper, 1000, 10_000_000, wrapper=urgent)
    run(sleeper, 100, 100_000_000, wrapper=urgent)
    daemon.wait_for_reads(4)
    daemon.stop()

    csv = daemon.csv()
    increments = csv.derive_delta("syscall-clock_nanosleep", "count")
    assert sum(row.value for row in increments) == 1100

    # A percentile is of its own interval, and an idle one has none.
    p50 = csv.series("syscall-clock_nanosleep", "latency", "percentile-50")
    busy = [row.time for row in increments if row.value > 0]
    assert [row.time for row in p50] == busy
    assert all(row.value == 0 for row in increments[-2:])

    # In milliseconds; an interval with both kinds has either.
    p50_ms = [row.value / 1e6 for row in p50]
    short = [ms for ms in p50_ms if 10.0 <= ms <= 10.7]
    long = [ms for ms in p50_ms if 100 <= ms <= 107]
    assert p50_ms == short + long
    assert len(short) >= 8
    assert len(long) >= 8


def test_500_direct_writes_to_a_loop_device(collectd, loop_device):
    daemon = collectd('<Probe "iolat">\n</Probe>')
    before = loop_device.stats()
    run("direct_write", loop_device.path, 500, 4096)
    daemon.settle()
    assert loop_device.stats().minus(before).writes == 500
    daemon.stop()

    csv = daemon.csv()
    sums = {}
    for phase in PHASES:
        instance = f"iolat-{loop_device.name}-write-{phase}"
        assert csv.last(instance, "derive", "count") == 500
        sums[phase] = csv.last(instance, "derive", "sum")
    parts = sums["queue"] + sums["device"]
    assert parts == pytest.approx(sums["total"], rel=0.01)


@pytest.fixture
def tuned(loop_device):
    """Sets the queue up; the loop device's number is used again by others."""
    before = {}

    def tune(**settings: str):
        for setting, value in settings.items():
            before[setting] = loop_device.get(setting)
            loop_device.set(setting, value)
        return loop_device

    yield tune
    for setting, value in before.items():
        loop_device.set(setting, value)


@pytest.mark.parametrize("rung", ["tp_btf", "tp_btf+insert"])
@pytest.mark.parametrize("scheduler", ["none", "mq-deadline"])
@pytest.mark.parametrize("wbt", ["2000", "0"])
def test_queue_that_the_kernel_does_not_stamp(
    collectd, tuned, wbt, scheduler, rung
):
    """With iostats off, what is in a request's stamps is left from others."""
    device = tuned(wbt_lat_usec=wbt, scheduler=scheduler)
    group = "comm" if wbt == "0" else "device"
    run("direct_write", device.path, 100, 4096)
    tuned(iostats="0")
    daemon = collectd(
        f"""
        <Probe "iolat">
          GroupBy "{group}" "op" "phase"
          Rung "{rung}"
        </Probe>
        """
    )
    run("direct_write", device.path, 300, 4096)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    label = device.name if group == "device" else "direct_write"
    sums = {}
    for phase in PHASES:
        instance = f"iolat-{label}-write-{phase}"
        assert csv.last(instance, "derive", "count") == 300
        sums[phase] = csv.last(instance, "derive", "sum")
    assert sums["queue"] + sums["device"] == pytest.approx(
        sums["total"], rel=0.01
    )
    assert sums["total"] < 300 * 1e9
    assert csv.last("iolat", "derive", "lost-map_full") == 0


def completions(csv, device: str, phase: str) -> DiskStats:
    counts = {
        op: csv.counter(f"iolat-{device}-{op}-{phase}", "count") for op in OPS
    }
    return DiskStats(
        counts["read"], counts["write"], counts["discard"], counts["flush"]
    )


def test_fsync_heavy_file_system(collectd, loop_device, mounted):
    """Flushes, and writes that are steps of a flush: none counted twice."""
    loop_device.wait_until_quiet()
    daemon = collectd('<Probe "iolat">\n</Probe>')
    before = loop_device.stats()
    run("fsync_loop", mounted / "file", 300)
    loop_device.wait_until_quiet()
    daemon.settle()
    truth = loop_device.stats().minus(before)
    daemon.stop()

    assert truth.writes >= 300 and truth.flushes >= 300
    counted = completions(daemon.csv(), loop_device.name, "total")
    assert counted == truth


def nearest(rows: list[Row], time: float) -> int | float:
    row = min(rows, key=lambda row: abs(row.time - time))
    assert abs(row.time - time) < 0.3, "the plugins were not read together"
    return row.value


def test_page_faults(collectd):
    """Against collectd's own reading of /proc/vmstat, at the same times."""
    daemon = collectd(
        '<Probe "memlat">\n</Probe>', plugin_lines="LoadPlugin vmem\n"
    )
    daemon.settle()
    run("touch_pages", 100_000)
    daemon.settle()
    daemon.stop()

    csv = daemon.csv()
    first, *_, last = csv.series("memlat-minor", "derive", "count")
    counted = sum(
        row.value
        for kind in ("minor", "major")
        for row in csv.derive_delta(f"memlat-{kind}", "count")
        if row.time > first.time
    )
    pgfault = daemon.csv("vmem").series("", "vmpage_faults")
    truth = nearest(pgfault, last.time) - nearest(pgfault, first.time)
    assert truth >= 100_000
    assert counted == pytest.approx(truth, rel=0.01)


def test_page_faults_of_one_process(collectd, tmp_path):
    toucher = own("touch_pages", tmp_path)
    daemon = collectd(
        f"""
        <Probe "memlat">
          GroupBy "none"
          Process "{toucher.name}"
        </Probe>
        """
    )
    faults = run(toucher, 100_000)
    daemon.settle()
    daemon.stop()
    count = daemon.csv().last("memlat", "derive", "count")
    # and those of any program's start
    assert faults["minflt"] <= count <= faults["minflt"] + 500


def test_two_spinners_on_one_cpu(collectd):
    names = [unique("a"), unique("b")]
    daemon = collectd(
        f"""
        <Probe "runqlat">
          GroupBy "comm"
          Process "{names[0]}" "{names[1]}"
        </Probe>
        """
    )
    spinners = {name: Load("spin", 5, 0, name) for name in names}
    truth = {name: load.results() for name, load in spinners.items()}
    daemon.settle()
    daemon.stop()

    for name, schedstat in truth.items():
        wait_ns = daemon.csv().last(f"runqlat-{name}", "derive", "sum")
        assert wait_ns == pytest.approx(schedstat["wait_ns"], rel=0.05)
