# SPDX-License-Identifier: MIT
"""The series of one probe agree with one another, in each interval."""

import itertools

import pytest

from load import run

# These belong to an interval, and an interval without events has none.
OF_INTERVAL = "latency"


@pytest.fixture(params=[False, True], ids=["buckets", "cumulative"])
def cumulative(request):
    return request.param


@pytest.fixture
def csv(collectd, cumulative):
    block = '<Probe "runqlat">\n</Probe>\n'
    if cumulative:
        block += "CumulativeBuckets true\n"
    daemon = collectd(block)
    run("sleep_loop", 300, 10_000_000)
    daemon.wait_for_reads(2)
    daemon.stop()
    return daemon.csv()


def test_series_of_a_probe(csv, cumulative):
    assert csv.instances() == {"runqlat"}
    same_series_and_time_in_each_interval(csv)
    counters_never_fall(csv)
    buckets_add_up_to_the_count(csv, cumulative)
    interval_values_agree(csv)


def same_series_and_time_in_each_interval(csv):
    times = [row.time for row in csv.series("runqlat", "gauge", "up")]
    assert len(times) >= 5
    assert times == sorted(set(times))
    for name in csv.names("runqlat"):
        series = [row.time for row in csv.series("runqlat", *name)]
        if name.type == OF_INTERVAL:
            assert set(series) <= set(times), name
        else:
            assert series == times, name


def counters_never_fall(csv):
    for name in csv.names("runqlat"):
        if name.type == "derive":
            values = [row.value for row in csv.series("runqlat", *name)]
            assert values == sorted(values), name
            assert values[0] >= 0, name


def buckets_add_up_to_the_count(csv, cumulative):
    counts = [row.value for row in csv.series("runqlat", "derive", "count")]
    columns = [
        [row.value for row in rows] for rows in csv.buckets("runqlat").values()
    ]
    if cumulative:
        assert columns[-1] == counts
        for lower, upper in itertools.pairwise(columns):
            assert all(a <= b for a, b in zip(lower, upper, strict=True))
    else:
        assert [sum(row) for row in zip(*columns, strict=True)] == counts


def interval_values_agree(csv):
    values = {
        name.type_instance: dict(csv.series("runqlat", *name))
        for name in csv.names("runqlat")
        if name.type == OF_INTERVAL
    }
    sums = dict(csv.derive_delta("runqlat", "sum"))
    for time, count in csv.derive_delta("runqlat", "count"):
        assert count > 0, "a load was running, or collectd itself"
        maximum = values["max"][time]
        average = values["average"][time]
        assert average == pytest.approx(sums[time] / count, rel=0.01)
        assert average <= maximum
        names = [f"percentile-{p}" for p in ("50", "90", "99", "99.9")]
        percentiles = [values[name][time] for name in names]
        assert percentiles == sorted(percentiles)
        assert percentiles[-1] <= maximum
