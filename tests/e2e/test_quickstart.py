# SPDX-License-Identifier: MIT
"""contrib/quickstart: the README's first command."""

import os
import re
import signal
import subprocess
import time

import pytest

from csv_files import Csv
from daemon import SRCDIR, in_namespace

SCRIPT = SRCDIR / "contrib" / "quickstart"
# As a user has it: in its own build directory, with nobody's flags for make.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("EBPF_LATENCY_BUILD", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
}
PROBES = ("runqlat", "memlat", "iolat")
# The sources may be root's alone: this is the same user under another number.
NOT_ROOT = ["unshare", "--user"]


def quickstart(*options, wrapper=(), timeout=60):
    return subprocess.run(
        [*wrapper, SCRIPT, *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=ENVIRONMENT,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The first run, which builds: all others are second runs."""
    out = tmp_path_factory.mktemp("first")
    ended = quickstart("--duration", "1s", "--out", out, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def csv_of(out) -> Csv:
    (host_dir,) = (out / "csv").iterdir()
    return Csv(host_dir, "ebpf_latency")


def section(report: str, title: str) -> str:
    """The report's part that begins with the title, up to the next one."""
    match = re.search(rf"^{title}\b.*?(?=^\S|\Z)", report, re.M | re.S)
    assert match, report
    return match[0]


def test_report(built, out):
    start = time.monotonic()
    ended = quickstart("--duration", "3s", "--out", out)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert time.monotonic() - start < 3 + 10

    csv = csv_of(out)
    assert str(out / "csv") in ended.stdout
    for probe in PROBES:
        assert probe in ended.stdout
    part = section(ended.stdout, "runqlat")
    count = csv.last("runqlat", "derive", "count")
    assert str(count) in part.replace(",", "")
    for word in ("average", "p50", "p90", "p99", "p99.9", "max"):
        assert word in part
    # The bars' counts add up to the count.
    bars = re.findall(r"^ +.*\| *([\d,]+)$", part, re.M)
    assert sum(int(bar.replace(",", "")) for bar in bars) == count


def test_interrupted(built, out):
    """Ctrl-C ends it early, and it tells what there is."""
    process = subprocess.Popen(
        [SCRIPT, "--duration", "60", "--out", out],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        env=ENVIRONMENT,
    )
    deadline = time.monotonic() + 30
    while not list(out.glob("csv/*/ebpf_latency-runqlat/latency-max-*")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    output, _ = process.communicate(timeout=10)
    assert process.returncode == 0, output
    assert "p99.9" in section(output, "runqlat")


@pytest.mark.parametrize("duration", ["0", "-1", "x", "3h", "1.5s", ""])
def test_bad_duration(out, duration):
    ended = quickstart("--duration", duration, "--out", out)
    assert_refused(ended, f'"{duration}"')


def test_out_is_not_empty(out):
    out.mkdir()
    (out / "mine").write_text("precious")
    assert_refused(quickstart("--out", out), str(out))


def test_unknown_option():
    assert_refused(quickstart("--bogus"), "--bogus")


def test_without_root(out):
    assert_refused(quickstart("--out", out, wrapper=NOT_ROOT), "root")


def test_without_btf(built, out):
    wrapper = in_namespace("mount --bind /dev/null /sys/kernel/btf/vmlinux")
    ended = quickstart("--duration", "3", "--out", out, wrapper=wrapper)
    assert_refused(ended, "/sys/kernel/btf/vmlinux")


def test_without_bpf(built, out):
    wrapper = ["setpriv", "--bounding-set=-bpf,-perfmon,-sys_admin"]
    ended = quickstart("--duration", "3", "--out", out, wrapper=wrapper)
    assert_refused(ended, "CAP_BPF")


def assert_refused(ended, text):
    """One line that says why, and no success."""
    assert ended.returncode != 0
    (line,) = ended.stderr.splitlines()
    assert text in line
