# SPDX-License-Identifier: MIT
"""Which programs, maps and links a process has in the kernel, by id.

The ids are taken from the process itself, so that whatever else on the machine
loads BPF meanwhile is not mistaken for ours.
"""

import json
import subprocess
import time
from pathlib import Path

KINDS = ("prog", "map", "link")


def show(kind: str) -> list[dict]:
    text = subprocess.run(
        ["bpftool", "--json", kind, "show"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return json.loads(text)


def held_by(pid: int) -> dict[str, set[int]]:
    """The ids behind its file descriptors, and the maps of its programs."""
    held: dict[str, set[int]] = {kind: set() for kind in KINDS}
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            lines = info.read_text().splitlines()
        except FileNotFoundError:
            continue  # closed meanwhile
        for line in lines:
            name, _, value = line.partition(":")
            for kind in KINDS:
                if name == f"{kind}_id":
                    held[kind].add(int(value))
    for program in show("prog"):
        if program["id"] in held["prog"]:
            held["map"].update(program.get("map_ids", []))
    return held


def left_of(held: dict[str, set[int]]) -> dict[str, set[int]]:
    """Which of them are there still; the kernel may take a moment to free."""
    deadline = time.monotonic() + 3
    while True:
        left = {
            kind: held[kind] & {item["id"] for item in show(kind)}
            for kind in KINDS
        }
        left = {kind: ids for kind, ids in left.items() if ids}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)
