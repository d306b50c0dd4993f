# SPDX-License-Identifier: MIT
"""Every rung that works here measures the same as the best one: two daemons,
one for each, run at once on the same load."""

import pytest

from load import own, run

# (probe, the best rung, another that works without fentry and kprobes)
PAIRS = [
    ("runqlat", "tp_btf", "tp_btf+hash"),
    ("offcpu", "tp_btf", "tp_btf+hash"),
    ("syscall", "tp_btf", "tp_btf+hash"),
    ("memlat", "tp_btf+perf_event", "tp_btf+perf+hash"),
    ("iolat", "tp_btf", "tp_btf+insert"),
]
LOADS = {
    "runqlat": ("sleep_loop", 300, 5_000_000),
    "offcpu": ("sleep_loop", 300, 5_000_000),
    "syscall": ("getppid_loop", 1, 100_000, 0),
    "memlat": ("touch_pages", 20_000),
    "iolat": ("direct_write", None, 500, 4096),
}


def within_one_bucket(a: float, b: float) -> bool:
    """A fine bucket is at most 1/16 wide; the next one's bound is 2/16 off."""
    low, high = sorted((a, b))
    return high <= low * (1 + 2 / 16) + 1


@pytest.mark.parametrize("probe, best, other", PAIRS)
def test_two_rungs_agree(collectd, tmp_path, loop_device, probe, best, other):
    program, *arguments = LOADS[probe]
    program = own(program, tmp_path)
    arguments = [a if a is not None else loop_device.path for a in arguments]
    daemons = [
        collectd(
            f"""
            Percentile 50
            <Probe "{probe}">
              GroupBy "none"
              Process "{program.name}"
              Rung "{rung}"
            </Probe>
            """
        )
        for rung in (best, other)
    ]
    run(program, *arguments)
    for daemon in daemons:
        daemon.settle()
    for daemon in daemons:
        daemon.stop()

    counts, sums = [], []
    for daemon in daemons:
        csv = daemon.csv()
        assert csv.last(probe, "gauge", "up") == 1
        counts.append(csv.last(probe, "derive", "count"))
        sums.append(csv.last(probe, "derive", "sum"))
        assert csv.last(probe, "derive", "lost-map_full") == 0
    assert counts[0] == counts[1] > 100
    averages = [total / count for total, count in zip(sums, counts)]
    # Who attached first also measures what the other one's programs cost.
    assert within_one_bucket(*averages) or abs(
        averages[0] - averages[1]
    ) < 5000, averages
