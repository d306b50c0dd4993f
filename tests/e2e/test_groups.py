# SPDX-License-Identifier: MIT
"""Filters count what they select and account for the rest; groups add up."""

import pytest

from load import Waiting, named, own, run, unique

CALLS = 1000


@pytest.fixture
def waiting():
    process = Waiting("getppid_loop", 3, CALLS, 0)
    yield process
    process.kill()


def test_filter_process(collectd, tmp_path):
    one, other, two = (unique(name) for name in ("one", "other", "two"))
    daemon = collectd(
        f"""
        <Probe "syscall">
          Syscall "getppid"
          Process "{one}" "{two}"
        </Probe>
        """
    )
    before = daemon.csv().last("syscall", "derive", "lost-filtered")
    for name in (one, other, two):
        run(named("getppid_loop", name, tmp_path), 1, CALLS, 0)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    assert csv.last("syscall", "derive", "count") == 2 * CALLS
    filtered = csv.last("syscall", "derive", "lost-filtered") - before
    assert filtered >= CALLS


def test_filter_process_by_its_first_15_bytes(collectd, tmp_path):
    """As the kernel keeps names; and a warning says what is compared."""
    long_name = unique("") + "-and-then-some-more"
    daemon = collectd(
        f"""
        <Probe "syscall">
          Syscall "getppid"
          Process "{long_name}"
        </Probe>
        """
    )
    run(named("getppid_loop", long_name, tmp_path), 1, CALLS, 0)
    daemon.settle()
    daemon.stop()
    assert daemon.csv().last("syscall", "derive", "count") == CALLS
    (warning,) = daemon.own_log("warning")
    assert long_name in warning and f'"{long_name[:15]}"' in warning


def test_filter_pid(collectd, waiting):
    """A process is all of its threads."""
    daemon = collectd(
        f"""
        <Probe "syscall">
          Syscall "getppid"
          Pid {waiting.pid}
        </Probe>
        """
    )
    waiting.go()
    run("getppid_loop", 1, CALLS, 0)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    assert csv.last("syscall", "derive", "count") == CALLS
    assert csv.last("syscall", "derive", "lost-filtered") >= CALLS


def test_filter_syscall(collectd, tmp_path):
    caller, sleeper, toucher = (
        own(program, tmp_path)
        for program in ("getppid_loop", "sleep_loop", "touch_pages")
    )
    daemon = collectd(
        f"""
        <Probe "syscall">
          GroupBy "syscall"
          Syscall "getppid" "clock_nanosleep"
          Process "{caller.name}" "{sleeper.name}" "{toucher.name}"
        </Probe>
        """
    )
    run(caller, 2, CALLS, 0)
    run(sleeper, 100, 1000)
    run(toucher, 100)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    assert csv.instances() == {
        "syscall",
        "syscall-getppid",
        "syscall-clock_nanosleep",
    }
    assert csv.last("syscall-getppid", "derive", "count") == CALLS
    assert csv.last("syscall-clock_nanosleep", "derive", "count") == 100
    # Other calls of these programs, and all calls of all others.
    assert csv.last("syscall", "derive", "lost-filtered") > 100


@pytest.fixture
def writer(loop_device, tmp_path):
    """direct_write, in memory already: it has nothing to read when it runs."""
    program = own("direct_write", tmp_path)
    run(program, loop_device.path, 1, 4096)
    return program


def test_group_by_none(collectd, loop_device, writer):
    """One histogram: each request once, whatever its device and operation."""
    daemon = collectd(
        f"""
        <Probe "iolat">
          GroupBy "none"
          Process "{writer.name}"
        </Probe>
        """
    )
    run(writer, loop_device.path, 500, 4096)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    assert csv.instances() == {"iolat"}
    count = csv.last("iolat", "derive", "count")
    # and what the program itself had to be read from, if not in memory
    assert 500 <= count < 520


def test_group_by_several_labels_in_their_order(collectd, loop_device, writer):
    daemon = collectd(
        f"""
        <Probe "iolat">
          GroupBy "comm" "op" "phase"
          Process "{writer.name}"
        </Probe>
        """
    )
    run(writer, loop_device.path, 500, 4096)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    instances = {
        f"iolat-{writer.name}-write-{phase}"
        for phase in ("queue", "device", "total")
    }
    assert csv.instances() == {"iolat"} | instances
    for instance in instances:
        assert csv.last(instance, "derive", "count") == 500


def test_more_processes_than_groups(collectd, tmp_path):
    """The first come have their own group, the rest one: none is lost."""
    names = [unique(f"p{i}") for i in range(10)]
    daemon = collectd(
        f"""
        MaxGroups 4
        <Probe "syscall">
          GroupBy "comm"
          Syscall "getppid"
          Process {" ".join(f'"{name}"' for name in names)}
        </Probe>
        """
    )
    for name in names:
        run(named("getppid_loop", name, tmp_path), 2, CALLS, 0)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    counts = {
        instance.removeprefix("syscall-"): csv.counter(instance, "count")
        for instance in csv.instances() - {"syscall"}
    }
    own = {name: CALLS for name in names[:4]}
    assert counts == {**own, "other": 6 * CALLS}
    for instance in csv.instances() - {"syscall"}:
        rows = csv.buckets(instance).values()
        assert sum(row[-1].value for row in rows) == csv.counter(
            instance, "count"
        )


def test_process_name_that_outputs_would_break_on(collectd, tmp_path):
    """Two names that differ in such bytes only stay two series."""
    names = [unique(name) for name in ("a.b c", "a,b;c", "a b.c")]
    quoted = " ".join(f'"{name}"' for name in names)
    daemon = collectd(
        f"""
        <Probe "syscall">
          GroupBy "comm"
          Syscall "getppid"
          Process {quoted}
        </Probe>
        """
    )
    for i, name in enumerate(names):
        run(named("getppid_loop", name, tmp_path), 1, CALLS + i, 0)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    instances = csv.instances() - {"syscall"}
    assert all(
        c.isascii() and (c.isalnum() or c in "-_") for i in instances for c in i
    )
    counts = sorted(csv.counter(instance, "count") for instance in instances)
    assert counts == [CALLS, CALLS + 1, CALLS + 2]
