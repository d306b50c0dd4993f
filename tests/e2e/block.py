# SPDX-License-Identifier: MIT
"""A block device of our own, and what the kernel itself counts of it."""

import subprocess
import time
from pathlib import Path
from typing import NamedTuple


class DiskStats(NamedTuple):
    """Requests completed since the device is there."""

    reads: int
    writes: int
    discards: int
    flushes: int

    def minus(self, before: "DiskStats") -> "DiskStats":
        return DiskStats(*(now - old for now, old in zip(self, before)))


class LoopDevice:
    def __init__(self, image: Path, size: int):
        with open(image, "wb") as file:
            file.truncate(size)
        self.path = subprocess.run(
            ["losetup", "--find", "--show", image],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.strip()
        self.name = Path(self.path).name

    def make_file_system(self) -> None:
        """ext4 that leaves nothing for a kernel thread to do later on."""
        subprocess.run(
            ["mkfs.ext4", "-q", "-E"]
            + ["lazy_itable_init=0,lazy_journal_init=0", self.path],
            check=True,
        )

    def stats(self) -> DiskStats:
        for line in Path("/proc/diskstats").read_text().splitlines():
            _, _, name, *fields = line.split()
            if name == self.name:
                return DiskStats(*(int(fields[i]) for i in (0, 4, 11, 15)))
        raise AssertionError(f"/proc/diskstats has no {self.name}")

    def set(self, setting: str, value: str) -> None:
        """Of the queue, in /sys. They go with the device."""
        Path(f"/sys/block/{self.name}/queue/{setting}").write_text(value)

    def get(self, setting: str) -> str:
        """For a choice, the one that is made."""
        text = Path(f"/sys/block/{self.name}/queue/{setting}").read_text()
        return text.partition("[")[2].partition("]")[0] or text.strip()

    def wait_until_quiet(self, seconds: float = 1.5) -> DiskStats:
        """Waits until the device had nothing to do for so long."""
        deadline = time.monotonic() + 30
        stats = self.stats()
        since = time.monotonic()
        while time.monotonic() - since < seconds:
            assert time.monotonic() < deadline, "the device is never quiet"
            time.sleep(0.1)
            if (now := self.stats()) != stats:
                stats, since = now, time.monotonic()
        return stats

    def detach(self) -> None:
        subprocess.run(["losetup", "--detach", self.path], check=True)
