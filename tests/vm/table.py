# SPDX-License-Identifier: MIT
"""The table probe x kernel x rung, for people and for programs."""

import json
import textwrap
from typing import NamedTuple


class Cell(NamedTuple):
    state: str  # measuring, off, failed
    reason: str


# (probe, rung) -> kernel -> cell, in the order of the table.
Cells = dict[tuple[str, str], dict[str, Cell]]

WORDS = {"measuring": "measuring", "off": "off", "failed": "FAILED"}


def to_json(cells: Cells) -> str:
    rows = [
        {"probe": probe, "rung": rung, "kernel": kernel, **cell._asdict()}
        for (probe, rung), row in cells.items()
        for kernel, cell in row.items()
    ]
    return json.dumps(rows, indent=1) + "\n"


def unmeasured(cells: Cells) -> list[str]:
    """Probes that no rung measures, each with the kernel."""
    measures: dict[tuple[str, str], bool] = {}
    for (probe, _), row in cells.items():
        for kernel, cell in row.items():
            measures.setdefault((probe, kernel), False)
            measures[probe, kernel] |= cell.state == "measuring"
    return [
        f"{probe} on {kernel}"
        for (probe, kernel), some in measures.items()
        if not some
    ]


def to_text(cells: Cells, kernels: list[str]) -> str:
    """One line a rung; what is off or has failed has a number, and the reasons
    stand below, each once."""
    reasons: dict[Cell, int] = {}
    lines = [["probe", "rung", *kernels]]
    for (probe, rung), row in cells.items():
        line = [probe, rung]
        for cell in row.values():
            word = WORDS[cell.state]
            if cell.reason:
                number = reasons.setdefault(cell, len(reasons) + 1)
                word += f" ({number})"
            line.append(word)
        lines.append(line)
    widths = [max(map(len, column)) for column in zip(*lines)]
    text = [
        "  ".join(map(str.ljust, line, widths)).rstrip() for line in lines
    ]
    text.append("")
    for cell, number in reasons.items():
        text += textwrap.wrap(
            f"({number}) {WORDS[cell.state]}: {cell.reason}",
            width=80,
            subsequent_indent="    ",
        )
    if nothing := unmeasured(cells):
        text += textwrap.wrap("No rung measures " + ", ".join(nothing) + ".")
    return "\n".join(text)


def states(cells: Cells) -> list[str]:
    return [cell.state for row in cells.values() for cell in row.values()]


def count(cells: Cells) -> str:
    times = states(cells).count
    return (
        f"{times('measuring')} passed, {times('failed')} failed,"
        f" {times('off')} skipped"
    )


def is_good(cells: Cells) -> bool:
    return "measuring" in states(cells) and "failed" not in states(cells)
