# SPDX-License-Identifier: MIT
"""Runs the load generators of tests/load and reads their results."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from daemon import BUILDDIR

PROGRAMS = BUILDDIR / "tests" / "load"


class Load:
    """A load generator on its way; results() waits for its end."""

    def __init__(
        self,
        program: Path | str,
        *arguments: object,
        wrapper: Sequence[str] = (),
    ):
        self.process = subprocess.Popen(
            [*wrapper, PROGRAMS / program, *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
        )

    def results(self) -> dict[str, int]:
        output, _ = self.process.communicate(timeout=120)
        assert self.process.returncode == 0
        lines = (line.split("=") for line in output.splitlines())
        return {name: int(value) for name, value in lines}


def run(
    program: Path | str, *arguments: object, wrapper: Sequence[str] = ()
) -> dict[str, int]:
    return Load(program, *arguments, wrapper=wrapper).results()


def unique(name: str) -> str:
    """A process name that no other run of these tests uses meanwhile."""
    return f"{name}_{os.getpid()}"


def named(program: str, name: str, directory: Path) -> Path:
    """The program under another name, which is its process's name."""
    return Path(shutil.copy(PROGRAMS / program, directory / name))


def own(program: str, directory: Path) -> Path:
    """The program under a name that is unique and short enough for one."""
    return named(program, unique(program[:7]), directory)


class Waiting:
    """A process that is there, with a pid, before it becomes the load."""

    def __init__(self, program: str, *arguments: object):
        self.process = subprocess.Popen(
            ["sh", "-c", 'read -r go && exec "$@"', "sh", PROGRAMS / program]
            + [str(argument) for argument in arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        self.pid = self.process.pid

    def go(self) -> None:
        self.process.communicate("go\n", timeout=120)
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
