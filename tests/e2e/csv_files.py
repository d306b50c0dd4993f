# SPDX-License-Identifier: MIT
"""What collectd's csv plugin wrote: files -> series of numbers.

Knows the layout DataDir/HOST/PLUGIN-INSTANCE/TYPE-TYPE_INSTANCE-DATE and the
rows "epoch,value"; nothing of what the series mean.
"""

import re
from pathlib import Path
from typing import NamedTuple

FILE_NAME = re.compile(
    r"(?P<type>[^-]+)(?:-(?P<type_instance>.+))?-\d{4}-\d\d-\d\d"
)


class Row(NamedTuple):
    time: float
    value: int | float


class Name(NamedTuple):
    type: str
    type_instance: str

    def __str__(self) -> str:
        return f"{self.type}-{self.type_instance}"


def number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


class Csv:
    """The series of one plugin on one host."""

    def __init__(self, host_dir: Path, plugin: str):
        self.host_dir = host_dir
        self.plugin = plugin

    def instances(self) -> set[str]:
        """Plugin instances; "" is the one without a name."""
        names = (path.name for path in self.host_dir.glob(f"{self.plugin}*"))
        return {
            name.removeprefix(self.plugin).removeprefix("-")
            for name in names
            if name == self.plugin or name.startswith(f"{self.plugin}-")
        }

    def _files(self, instance: str) -> dict[Name, list[Path]]:
        folder = self.plugin + (f"-{instance}" if instance else "")
        files: dict[Name, list[Path]] = {}
        for path in sorted((self.host_dir / folder).glob("*")):
            match = FILE_NAME.fullmatch(path.name)
            assert match, f"not a csv file of collectd: {path.name}"
            name = Name(match["type"], match["type_instance"] or "")
            files.setdefault(name, []).append(path)
        return files

    def names(self, instance: str) -> set[Name]:
        return set(self._files(instance))

    def series(
        self,
        instance: str,
        type_: str,
        type_instance: str = "",
        column: int = 0,
    ) -> list[Row]:
        """All rows, oldest first; none when there is no such series. Stock
        types may have several values: `column` picks one."""
        name = Name(type_, type_instance)
        rows = []
        for path in self._files(instance).get(name, []):
            for line in path.read_text().splitlines(keepends=True):
                # A line without its end is still being written.
                if line.endswith("\n") and not line.startswith("epoch"):
                    time, *values = line.strip().split(",")
                    rows.append(Row(float(time), number(values[column])))
        return rows

    def last(
        self, instance: str, type_: str, type_instance: str = ""
    ) -> int | float:
        rows = self.series(instance, type_, type_instance)
        assert rows, f"no series {instance}/{type_}-{type_instance}"
        return rows[-1].value

    def counter(self, instance: str, type_instance: str) -> int:
        """Where a counter ended; 0 when it never appeared."""
        rows = self.series(instance, "derive", type_instance)
        return rows[-1].value if rows else 0

    def derive_delta(self, instance: str, type_instance: str) -> list[Row]:
        """A counter's increments; before its first row it was 0."""
        before = 0
        increments = []
        for time, value in self.series(instance, "derive", type_instance):
            increments.append(Row(time, value - before))
            before = value
        return increments

    def buckets(self, instance: str) -> dict[str, list[Row]]:
        """Bound ("1024", "inf") -> counter, by rising bound."""
        bounds = [
            name.type_instance.removeprefix("bucket-")
            for name in self.names(instance)
            if name.type_instance.startswith("bucket-")
        ]
        return {
            bound: self.series(instance, "derive", f"bucket-{bound}")
            for bound in sorted(bounds, key=float)
        }
