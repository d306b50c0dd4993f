# SPDX-License-Identifier: MIT
"""One probe on one rung in a private collectd, and what must hold of any.

The experiments use it; it knows the daemon and its series, no probe by name.
What does not hold is raised in one sentence, for a table.
"""

import re
import time
from contextlib import ExitStack
from pathlib import Path

import daemon
import load
from csv_files import Csv

# What no probe may lose, whatever it measures, and the rest of the ledger.
NEVER_LOST = ("negative", "map_full")
LOST = ("unmatched", "busy", "missed")


class Off(Exception):
    """The probe does not measure; the reason is the log's."""


class Wrong(Exception):
    """It measures, and not what happened."""


def equal(what: str, got: int, truth: int) -> None:
    if got != truth:
        raise Wrong(f"{what}: {got}, not {truth}")


def between(what: str, got: float, low: float, high: float) -> None:
    if not low <= got <= high:
        raise Wrong(f"{what}: {got:.0f}, not from {low:.0f} to {high:.0f}")


def near(what: str, got: float, truth: float, rel: float, extra=0) -> None:
    slack = truth * rel + extra
    between(what, got, truth - slack, truth + slack)


class Lab:
    """Start the daemon, run the load, finish, and look at what was counted.
    What an experiment sets up on the way is `undo`'s to put back."""

    def __init__(self, probe: str, rung: str, directory: Path):
        self.probe = probe
        self.rung = rung
        self.directory = directory
        self.undo = ExitStack()
        self.daemon: daemon.Collectd | None = None
        self.started = 0.0
        self.warnings = 0
        self.csv: Csv | None = None
        self.notes: list[str] = []

    def start(self, *options: str) -> None:
        """A collectd with nothing but this probe on this rung, and lines for
        its block; it is measuring when this returns."""
        lines = [f'<Probe "{self.probe}">', f'Rung "{self.rung}"', *options]
        block = "\n".join([*lines, "</Probe>"])
        plugin_lines = daemon.load_own_plugin(block, daemon.PROBE_DIR)
        self.daemon = daemon.Collectd(
            self.directory / "collectd", plugin_lines
        )
        self.undo.callback(self.daemon.kill)
        self.started = time.monotonic()
        self.daemon.start()
        word, rest = self._first_word()
        if word == "off":
            # What one of several functions lacks is said before that.
            first = self.daemon.own_log("error")[0].partition(": off: ")[2]
            raise Off((first or rest).removeprefix(f"rung {self.rung}: "))
        if rest.split(",")[0] != f"rung {self.rung}":
            raise Wrong(f"it measures on another rung: {rest}")
        # Some probes warn of what they cost.
        self.warnings = len(self.daemon.own_log("warning"))
        self.daemon.wait_for_reads(1)

    def _first_word(self) -> tuple[str, str]:
        """What the log says of the probe once it has tried: off or measuring,
        and the rest of the line."""
        form = re.compile(rf": {self.probe}: (off|measuring)[:,] (.*)")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for line in self.daemon.own_log():
                if match := form.search(line):
                    return match[1], match[2]
            if not self.daemon.is_alive():
                break
            time.sleep(0.1)
        said = " ".join(self.daemon.tell("").splitlines()[-3:])
        raise Wrong(f"collectd says nothing of the probe: {said}")

    def finish(self) -> None:
        """Everything that happened has been counted; no more is."""
        self.daemon.settle()
        self.daemon.stop()
        lasted_ns = (time.monotonic() - self.started) * 1e9
        self.csv = self.daemon.csv()
        for reason in NEVER_LOST:
            equal(f"lost-{reason}", self.lost(reason), 0)
        for instance in self.csv.instances():
            for row in self.csv.series(instance, "latency", "max"):
                between(f"max of {instance}", row.value, 0, lasted_ns)
        complaints = self.daemon.own_log("error")
        complaints += self.daemon.own_log("warning")[self.warnings :]
        if complaints:
            raise Wrong(complaints[0].partition("plugin: ")[2])

    def _instance(self, labels: str) -> str:
        return f"{self.probe}-{labels}" if labels else self.probe

    def lost(self, reason: str) -> int:
        return self.csv.counter(self.probe, f"lost-{reason}")

    def ledger(self) -> str:
        lost = {reason: self.lost(reason) for reason in LOST}
        return ", ".join(f"{n} {reason}" for reason, n in lost.items() if n)

    def count(self, labels: str = "") -> int:
        return self.csv.counter(self._instance(labels), "count")

    def sum_ns(self, labels: str = "") -> int:
        return self.csv.counter(self._instance(labels), "sum")

    def buckets(self, labels: str = "") -> dict[float, int]:
        """Upper bound -> events, without those that are empty."""
        buckets = self.csv.buckets(self._instance(labels)).items()
        counts = {float(bound): rows[-1].value for bound, rows in buckets}
        return {bound: count for bound, count in counts.items() if count}

    def above(self, ns: float, labels: str = "") -> int:
        """How many events are in buckets whose bound is above that."""
        buckets = self.buckets(labels).items()
        return sum(count for bound, count in buckets if bound > ns)

    def expect(self, labels: str, count: int, at_least_ns: float = 0) -> None:
        """That many events, none shorter than that. Where tasks that run BPF
        programs can be preempted the kernel leaves out what comes meanwhile,
        and says how much: then that much may be missing, if it is not a lot."""
        name = self._instance(labels)
        got = self.count(labels)
        missed = min(self.lost("missed"), 2 + count // 20)
        if not count - missed <= got <= count:
            raise Wrong(
                f"count of {name}: {got}, not {count} (ledger:"
                f" {self.ledger() or 'nothing'})"
            )
        if got < count:
            self.notes.append(
                f"{got} of {count} {name}; ledger: {self.ledger()}"
            )
        if not at_least_ns:
            return
        equal(
            f"count of {name} of {at_least_ns / 1e6} ms or more",
            self.above(at_least_ns, labels),
            got,
        )
        between(
            f"mean of {name}",
            self.sum_ns(labels) / got,
            at_least_ns,
            float("inf"),
        )

    def own(self, program: str) -> Path:
        """A copy under a name that only this experiment uses."""
        return load.own(program, self.directory)
