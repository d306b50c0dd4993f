# SPDX-License-Identifier: MIT
"""What the kernel half makes of known values: bucket, sum, maximum, ledger.

The test-only probe `given` counts what system calls of no kernel carry."""

import ctypes
import os
import platform
import shutil
import subprocess
import sys

import pytest

from daemon import PROBE_DIR, load_own_plugin

VALUE, NEGATIVE = 1000, 1001
TOP = 40  # the highest power of two that is a bound

EDGES = sorted(
    {0, 2**63, 2**64 - 1}
    | set(range(33))
    | {2**k + d for k in range(1, TOP + 2) for d in (-1, 0, 1)}
)

# Nobody else's process is called so.
NAME = f"give{os.getpid()}"
GIVE = """
import ctypes, sys
number, name, *values = sys.argv[1:]
libc = ctypes.CDLL(None)
libc.prctl(15, name.encode())  # PR_SET_NAME
for value in values:
    libc.syscall(ctypes.c_long(int(number)), ctypes.c_ulong(int(value)))
"""

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the probe `given` is for x86-64"
)


def give(number: int, values) -> None:
    subprocess.run(
        [sys.executable, "-c", GIVE, str(number), NAME, *map(str, values)],
        check=True,
    )


@pytest.fixture
def given(collectd, tmp_path):
    """A collectd with that probe, and whatever else is to be configured."""
    directory = tmp_path / "probes"
    directory.mkdir()
    test_probes = PROBE_DIR.parent / "tests" / "bpf"
    shutil.copy(test_probes / "given.bpf.o", directory)

    def start(block: str = ""):
        block += f'\n<Probe "given">\nProcess "{NAME}"\n</Probe>'
        return collectd(own_lines=load_own_plugin(block, directory))

    return start


def test_every_edge_in_its_bucket(given):
    daemon = given(f"BucketBounds 1 {2**TOP}")
    give(VALUE, EDGES)
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()

    expected = {str(2**k): 0 for k in range(TOP + 1)} | {"inf": 0}
    for value in EDGES:
        bounds = (2**k for k in range(TOP + 1) if value <= 2**k)
        expected[str(next(bounds, "inf"))] += 1
    buckets = csv.buckets("given")
    counted = {bound: rows[-1].value for bound, rows in buckets.items()}
    assert counted == expected
    assert csv.last("given", "derive", "count") == len(EDGES)
    # Unsigned in the kernel, signed in collectd: what went in, modulo 2^64.
    total = ctypes.c_int64(sum(EDGES)).value
    assert csv.last("given", "derive", "sum") == total
    assert not csv.last("given", "derive", "lost-negative")


def test_maximum_is_exact_and_of_its_interval(given):
    daemon = given("Percentile 0 50 100")
    for largest in (1_000_003, 77, 123_456_789):
        give(VALUE, [0, 5, largest])
        daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    maxima = [row.value for row in csv.series("given", "latency", "max")]
    assert maxima == [1_000_003, 77, 123_456_789]
    p100 = csv.series("given", "latency", "percentile-100")
    assert [row.value for row in p100] == maxima
    p50 = csv.series("given", "latency", "percentile-50")
    assert [row.value for row in p50] == [5, 5, 5]
    p0 = csv.series("given", "latency", "percentile-0")
    assert [row.value for row in p0] == [0, 0, 0]


def test_every_percentile_of_equal_values(given):
    daemon = given("Percentile 0.1 50 99.9")
    give(VALUE, [137_000] * 1000 + [10**9])
    daemon.settle()
    daemon.stop()
    for name in ("0.1", "50", "99.9"):
        (row,) = daemon.csv().series("given", "latency", f"percentile-{name}")
        assert 137_000 <= row.value <= 137_000 * 17 / 16


def test_a_span_that_ends_before_it_began(given):
    daemon = given()
    give(NEGATIVE, [1, 5_000_000_000])
    give(VALUE, [10])
    daemon.settle()
    daemon.stop()
    csv = daemon.csv()
    assert csv.last("given", "derive", "lost-negative") == 2
    assert csv.last("given", "derive", "count") == 1
    assert csv.last("given", "latency", "max") == 10
