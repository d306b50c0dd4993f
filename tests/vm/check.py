# SPDX-License-Identifier: MIT
"""`make check-vm`: boots each kernel, has it try every rung of every probe,
and prints the table. The last line is `N passed, N failed, N skipped`.

Kernels are the words of $VM_KERNELS; "host" is this machine's own, which needs
root and no virtual machine. What each one wrote is below vm in the build
directory, and all results in results.json there.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import table
from expectations import why_off

HERE = Path(__file__).resolve().parent
SRCDIR = HERE.parent.parent
BUILDDIR = Path(os.environ["EBPF_LATENCY_BUILDDIR"])
OUT = BUILDDIR / "vm"

KERNELS = "5.10 6.1 6.12 7.2"
HOST = "host"
AT_ONCE = 2
MACHINE_SECONDS = 900

# What `fetch` and `boot` call, and the package where the name is another's.
TOOLS = {
    "apt-get": "apt",
    "dpkg": "dpkg",
    "depmod": "kmod",
    "modprobe": "kmod",
    "xz": "xz-utils",
    "busybox": "busybox-static",
    "qemu-system-x86_64": "qemu-system-x86",
}


class Unavailable(Exception):
    """There is no such kernel to be had here."""


class Run(NamedTuple):
    """What became of one kernel."""

    kernel: str
    results: list[dict]
    end: str  # "": it did all it had to
    last_words: str


def describe() -> str:
    objects = sorted((BUILDDIR / "bpf").glob("*.bpf.o"))
    return subprocess.run(
        [BUILDDIR / "tests" / "vm" / "describe", *objects],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def fetch(kernel: str) -> str:
    """The folder that it is in."""
    if kernel == HOST:
        return ""
    done = subprocess.run(
        [HERE / "fetch", kernel], capture_output=True, text=True
    )
    if done.returncode != 0:
        raise Unavailable(done.stderr.strip())
    return done.stdout.strip()


def how_it_ended(status: int) -> str:
    ends = {
        0: "",
        124: f"the machine hung: not done after {MACHINE_SECONDS} s",
        125: "the machine ended early: a panic, or it did not come up",
    }
    return ends.get(status, f"the tests ended with status {status}")


def read(path: Path) -> list[str]:
    if not path.exists():
        return []
    return path.read_text(errors="replace").splitlines()


def run_kernel(kernel: str, folder: str, probes: str) -> Run:
    start = time.monotonic()
    share = OUT / kernel
    shutil.rmtree(share, ignore_errors=True)
    share.mkdir(parents=True)
    (share / "probes").write_text(probes)
    command = [
        *("env", f"SHARE={share}", f"EBPF_LATENCY_SRCDIR={SRCDIR}"),
        f"EBPF_LATENCY_BUILDDIR={BUILDDIR}",
        *("/usr/bin/python3", HERE / "matrix.py"),
    ]
    if kernel != HOST:
        command[:0] = [HERE / "boot", folder, share, str(MACHINE_SECONDS)]
    with open(share / "output", "w") as output:
        status = subprocess.run(
            command, stdout=output, stderr=subprocess.STDOUT
        ).returncode
    end = how_it_ended(status)
    lines = [
        line
        for name in ("console", "qemu", "output")
        for line in read(share / name)[-30:]
    ]
    seconds = time.monotonic() - start
    print(f"{kernel}: {end or 'done'}, {seconds:.0f} s", flush=True)
    results = [json.loads(line) for line in read(share / "results")]
    return Run(kernel, results, end, "\n".join(lines))


def judge(run: Run, probe: str, rung: str) -> table.Cell:
    """What was seen, held against what must be."""
    for row in run.results:
        if (row["probe"], row["rung"]) == (probe, rung):
            break
    else:
        return table.Cell("failed", run.end or "it was not tried")
    state, reason = row["state"], row["reason"]
    if run.kernel == HOST or state == "failed":
        return table.Cell(state, reason)
    expected = why_off(run.kernel, probe, rung)
    if state == "off" and not expected:
        return table.Cell("failed", f"off, and must measure: {reason}")
    if state == "measuring" and expected:
        return table.Cell("failed", f"measures, in spite of: {expected}")
    if expected:
        reason = f"{expected}; the log: {reason}"
    return table.Cell(state, reason)


def missing_tool() -> str | None:
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            return f"{tool} not found (Debian: {package})"
    return None


def main() -> int:
    kernels = (os.environ.get("VM_KERNELS") or KERNELS).split()
    OUT.mkdir(parents=True, exist_ok=True)
    if kernels != [HOST] and (missing := missing_tool()):
        print(f"check-vm: {missing}", file=sys.stderr)
        return 1
    probes = describe()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            folders = list(pool.map(fetch, kernels))
        except Unavailable as reason:
            print(f"check-vm: {reason}", file=sys.stderr)
            return 1
        runs = list(
            pool.map(run_kernel, kernels, folders, [probes] * len(kernels))
        )
    cells = {
        (probe["name"], rung): {
            run.kernel: judge(run, probe["name"], rung) for run in runs
        }
        for probe in map(json.loads, probes.splitlines())
        for rung in probe["rungs"]
    }
    (OUT / "results.json").write_text(table.to_json(cells))
    for run in runs:
        if run.end:
            print(f"\n{run.kernel}: {run.end}. Its last words:")
            print(run.last_words)
    print(f"\n{table.to_text(cells, kernels)}\n{table.count(cells)}")
    return 0 if table.is_good(cells) else 1


sys.exit(main())
