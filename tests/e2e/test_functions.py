# SPDX-License-Identifier: MIT
"""Probes on functions of programs and libraries: malloc, funclat. Each load
counts its own calls; libraries are copies, so that nobody else is slowed."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bpf_objects import held_by, show
from load import PROGRAMS, Load, Waiting, named, own, run, unique

CALLS = PROGRAMS / "calls"
DEPTH = 9  # of load_descend
SIZES = (4, 16, 128, 256, 32768, 262144, 4194304)  # of mallocs, by class


def function(name: str, binary: Path | None = CALLS, symbol: str = "") -> str:
    lines = [f'<Function "{name}">']
    if binary:
        lines.append(f'Binary "{binary}"')
    if symbol:
        lines.append(f'Symbol "{symbol}"')
    return "\n".join([*lines, "</Function>\n"])


def funclat(*lines: str) -> str:
    return "\n".join(
        ["Buckets false", '<Probe "funclat">', *lines, "</Probe>\n"]
    )


def count(daemon, function: str) -> int:
    return daemon.csv().counter(f"funclat-{function}", "count")


def lost(daemon, probe: str, reason: str) -> int:
    return daemon.csv().last(probe, "derive", f"lost-{reason}")


@pytest.fixture
def libc(tmp_path) -> Path:
    """A copy of the C library that the load generators run with."""
    shown = subprocess.run(
        ["ldd", PROGRAMS / "mallocs"], stdout=subprocess.PIPE, text=True
    )
    found = re.search(r"=> (/\S*/(libc\.so\S*|libc\.musl\S*))", shown.stdout)
    if not found:
        pytest.skip("the load generators have no libc of their own")
    directory = tmp_path / "lib"
    directory.mkdir()
    return Path(shutil.copy(os.path.realpath(found[1]), directory / found[2]))


def with_libc(libc: Path) -> list[str]:
    return ["env", f"LD_LIBRARY_PATH={libc.parent}"]


def programs_on_functions(daemon) -> list[dict]:
    """Of uprobes, too: the kernel calls all of these kprobe."""
    ours = held_by(daemon.process.pid)["prog"]
    programs = [program for program in show("prog") if program["id"] in ours]
    return [program for program in programs if program["type"] == "kprobe"]


def test_none_unless_named(collectd):
    daemon = collectd()
    assert not programs_on_functions(daemon)
    assert not daemon.own_log("warning")


def test_mallocs_of_each_size(collectd):
    """In libc as it is found without Binary, of one process."""
    load = Waiting("mallocs", 2, 1000)
    daemon = collectd(
        f"""
        Buckets false
        <Probe "malloc">
          GroupBy "size"
          Pid {load.pid}
        </Probe>
        """
    )
    assert programs_on_functions(daemon)
    load.go()
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    counts = [csv.last(f"malloc-{size}", "derive", "count") for size in SIZES]
    assert counts == [2000] * len(SIZES)
    # The programs are called in that process only.
    assert lost(daemon, "malloc", "filtered") == 0
    assert lost(daemon, "malloc", "unmatched") == 0
    (warning,) = daemon.own_log("warning")
    assert "malloc: each call costs" in warning


def test_mallocs_of_one_name(collectd, tmp_path, libc):
    """Of processes that start later, by name; and what others do is lost."""
    wanted = own("mallocs", tmp_path)
    other = named("mallocs", unique("other"), tmp_path)
    daemon = collectd(
        f"""
        Buckets false
        <Probe "malloc">
          GroupBy "comm" "size"
          Binary "{libc}"
          Process "{wanted.name}"
        </Probe>
        """
    )
    run(wanted, 1, 500, wrapper=with_libc(libc))
    run(other, 1, 200, wrapper=with_libc(libc))
    daemon.settle()
    daemon.stop()
    for size in SIZES:
        instance = f"malloc-{wanted.name}-{size}"
        assert daemon.csv().last(instance, "derive", "count") == 500
    assert lost(daemon, "malloc", "filtered") >= 200 * len(SIZES)
    assert not [i for i in daemon.csv().instances() if other.name in i]


def test_two_rungs_agree(collectd):
    load = Waiting("mallocs", 2, 1000)
    daemons = [
        collectd(
            f'<Probe "malloc">\nPid {load.pid}\nRung "{rung}"\n</Probe>\n'
            + f'<Probe "funclat">\nPid {load.pid}\nRung "{rung}"\n'
            + function("main", PROGRAMS / "mallocs", "main")
            + "</Probe>\n"
        )
        for rung in ("uprobe", "uprobe+hash")
    ]
    load.go()
    for daemon in daemons:
        daemon.settle()
        daemon.stop()
    counts = [d.csv().last("malloc", "derive", "count") for d in daemons]
    assert counts[0] == counts[1] >= 2000 * len(SIZES)
    assert [count(daemon, "main") for daemon in daemons] == [1, 1]


FUNCTIONS = {
    "sleep": ("load_sleep", 1),
    "load_outer": ("", 1),
    "inner": ("load_inner", 3),
    "descend": ("load_descend", DEPTH),
    "escape": ("load_escape", 0.5),
    "mangled": ("_ZN4load5Queue4sendEi", 1),
    "scoped": ("load::Queue::send(int)", 1),
}


@pytest.mark.parametrize("rung", ["uprobe", "uprobe+hash"])
def test_functions(collectd, rung):
    """Nested, recursive, and such as never return."""
    calls, sleep_ns = 500, 1_000_000
    daemon = collectd(
        funclat(
            f'Rung "{rung}"',
            *(function(n, CALLS, s) for n, (s, _) in FUNCTIONS.items()),
        )
    )
    run("calls", calls, sleep_ns)
    daemon.settle()
    daemon.stop()
    for name, (_, factor) in FUNCTIONS.items():
        assert count(daemon, name) == calls * factor, name
    # Of the calls that do not return all but the last were replaced.
    assert lost(daemon, "funclat", "unmatched") == calls / 2 - 1
    assert lost(daemon, "funclat", "map_full") == 0
    csv = daemon.csv()
    total_ns = {
        name: csv.last(f"funclat-{name}", "derive", "sum") for name in FUNCTIONS
    }
    assert total_ns["sleep"] >= calls * sleep_ns
    assert total_ns["load_outer"] > total_ns["inner"]
    assert f"measuring, rung {rung}, 7 of 7 functions" in str(daemon.own_log())


def test_deep_recursion(collectd):
    """What is deeper than there is room for is in the ledger."""
    daemon = collectd(funclat(function("f", CALLS, "load_plunge")))
    run("calls", 1, 0)
    daemon.settle()
    daemon.stop()
    assert count(daemon, "f") == 16
    assert lost(daemon, "funclat", "map_full") == 40 - 16


def test_functions_of_one_process(collectd):
    load = Waiting("calls", 300, 0)
    daemon = collectd(funclat(function("load_inner"), f"Pid {load.pid}"))
    run("calls", 500, 0)
    load.go()
    daemon.settle()
    daemon.stop()
    assert count(daemon, "load_inner") == 3 * 300
    assert lost(daemon, "funclat", "filtered") == 0


def test_process_that_is_not_there(collectd):
    daemon = collectd('<Probe "malloc">\nPid 4194304\n</Probe>')
    daemon.stop()
    assert daemon.csv().last("malloc", "gauge", "up") == 0
    (error,) = daemon.own_log("error")
    assert "No such process" in error


def test_some_functions_are_off(collectd, tmp_path):
    """Each for a reason of its own, and the others measure."""
    go_program = tmp_path / "go"
    shutil.copy(CALLS, go_program)
    objcopy = shutil.which("objcopy")
    if objcopy:
        section = f".go.buildinfo={__file__}"
        command = [objcopy, "--add-section", section, go_program]
        subprocess.run(command, check=True)
    daemon = collectd(
        funclat(
            function("misspelt", CALLS, "load_iner"),
            function("load_inner"),
            function("away", tmp_path / "away"),
            function("directory", tmp_path),
            function("script", Path(__file__)),
            function("kernel", None, "latency_no_such_function"),
            function("go", go_program, "load_inner") if objcopy else "",
        )
    )
    run("calls", 100, 0)
    daemon.settle()
    daemon.stop()
    assert count(daemon, "load_inner") == 300
    errors = {
        match[1]: line
        for line in daemon.own_log("error")
        if (match := re.search(r"funclat: function (\w+): off: ", line))
    }
    assert "near are: load_inner" in errors["misspelt"]
    assert f"{tmp_path}/away: No such file" in errors["away"]
    assert "Is a directory" in errors["directory"]
    assert "no ELF file" in errors["script"]
    assert "rung fentry: " in errors["kernel"]
    assert "rung kprobe: " in errors["kernel"]
    assert "rung uprobe" not in errors["kernel"]
    if objcopy:
        assert "Go program" in errors["go"]
    (line,) = [x for x in daemon.own_log("info") if ": measuring" in x]
    assert f"1 of {6 + bool(objcopy)} functions" in line


def test_all_functions_are_off(collectd, tmp_path):
    daemon = collectd(
        funclat(function("f", tmp_path / "away"))
        + f'<Probe "malloc">\nBinary "{tmp_path}/away"\n</Probe>\n'
    )
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    assert csv.last("funclat", "gauge", "up") == 0
    assert csv.last("malloc", "gauge", "up") == 0
    errors = daemon.own_log("error")
    assert len(errors) == 3  # the function, the probe; the other probe
    assert any("none of its functions" in error for error in errors)
    assert any(f"malloc: off: {tmp_path}/away" in error for error in errors)
    assert not daemon.own_log("warning")


def replace(path: Path) -> None:
    """As a package manager does."""
    new = path.with_suffix(".new")
    shutil.copy(path, new)
    new.rename(path)


def number_held(pid: int) -> dict[str, int]:
    return {kind: len(ids) for kind, ids in held_by(pid).items()}


def number_of_perf_events(pid: int) -> int:
    links = (os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir())
    return sum("perf_event" in link for link in links)


def test_program_that_comes_later(collectd, tmp_path):
    program = tmp_path / "later"
    daemon = collectd(funclat(function("load_inner", program)))
    daemon.wait_for_reads(1)
    assert daemon.csv().last("funclat", "gauge", "up") == 0
    shutil.copy(CALLS, program.with_suffix(".new"))
    program.with_suffix(".new").rename(program)
    daemon.settle()
    run(program, 100, 0)
    daemon.settle()
    daemon.stop()
    assert count(daemon, "load_inner") == 300
    assert daemon.csv().last("funclat", "gauge", "up") == 1


def test_library_that_is_replaced(collectd, tmp_path):
    """What runs with the old file and what starts with the new are measured,
    however often that happens, and nothing is left behind."""
    program = own("calls", tmp_path)
    daemon = collectd(funclat(function("load_sleep", program)))
    running = Load(program, 4000, 1_000_000)
    daemon.wait_for_reads(1)
    replace(program)
    daemon.settle()
    run(program, 100, 0)
    assert running.results()["calls"] == 4000
    daemon.settle()
    assert count(daemon, "load_sleep") == 4100
    lines = [line for line in daemon.own_log() if "was replaced" in line]
    assert len(lines) == 1 and str(program) in lines[0]

    pid = daemon.process.pid
    objects = number_held(pid)
    perf_events = number_of_perf_events(pid)
    assert perf_events > 0
    for _ in range(3):
        replace(program)
        daemon.wait_for_reads(2)
    assert number_held(pid) == objects
    assert number_of_perf_events(pid) == perf_events
    run(program, 100, 0)
    daemon.settle()
    daemon.stop()
    assert count(daemon, "load_sleep") == 4200


def test_library_without_the_function(collectd, tmp_path):
    """One warning; and a later one that has it again is measured."""
    program = own("calls", tmp_path)
    daemon = collectd(funclat(function("load_inner", program)))
    good = program.read_bytes()
    program.unlink()
    daemon.wait_for_reads(2)
    assert len(daemon.own_log("warning")) == 1  # of the cost
    program.write_bytes(good.replace(b"load_inner", b"load_other"))
    program.chmod(0o755)
    daemon.wait_for_reads(3)
    warnings = daemon.own_log("warning")
    assert len(warnings) == 2 and "no function \"load_inner\"" in warnings[1]
    (tmp_path / "new").write_bytes(good)
    (tmp_path / "new").chmod(0o755)
    (tmp_path / "new").rename(program)
    daemon.settle()
    run(program, 100, 0)
    daemon.settle()
    daemon.stop()
    assert count(daemon, "load_inner") == 300
