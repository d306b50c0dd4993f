# SPDX-License-Identifier: MIT
"""Which rung is off on which kernel, and why: every other one must measure.

A rung that stops to load is a failure, then, not one more that is off; and one
that measures in spite of what stands here is one, too: its line must go.
"""

from fnmatch import fnmatch
from typing import NamedTuple


class Lack(NamedTuple):
    kernels: tuple[str, ...]
    probe: str  # patterns, as of the shell
    rung: str
    why: str


NO_TASK_STORAGE = (
    "tracing programs have no task storage before 5.13 (commit a10787e6d58c)"
)
NO_IO_START = "no tracepoint block_io_start before 6.5 (commit 5a80bd075f3b)"
NO_SOCK_LENGTH = (
    "no tracepoints sock_send_length and sock_recv_length before 6.3 (commit"
    " 6e6eda44b939)"
)
NO_DATA_READY = "no tracepoint sk_data_ready before 6.3 (commit 40e0b0908142)"

OLDEST = ("5.10",)
OLD = ("5.10", "6.1")

LACKS = (
    Lack(OLDEST, "runqlat", "tp_btf", NO_TASK_STORAGE),
    Lack(OLDEST, "offcpu", "tp_btf", NO_TASK_STORAGE),
    Lack(OLDEST, "syscall", "tp_btf", NO_TASK_STORAGE),
    Lack(OLDEST, "memlat", "tp_btf+perf_event", NO_TASK_STORAGE),
    Lack(OLDEST, "tcp_*msg", "fentry", NO_TASK_STORAGE),
    Lack(OLDEST, "tcp_*msg", "kprobe", NO_TASK_STORAGE),
    Lack(OLDEST, "malloc", "uprobe", NO_TASK_STORAGE),
    Lack(OLDEST, "funclat", "uprobe", NO_TASK_STORAGE),
    Lack(OLDEST, "funclat", "fentry", NO_TASK_STORAGE),
    Lack(OLDEST, "funclat", "kprobe", NO_TASK_STORAGE),
    Lack(OLD, "iolat", "tp_btf", NO_IO_START),
    Lack(OLD, "tcp_*msg", "sys_enter", NO_SOCK_LENGTH),
    Lack(OLD, "netrx", "tp_btf", NO_DATA_READY),
)


def why_off(kernel: str, probe: str, rung: str) -> str | None:
    """Why this rung cannot measure there; None: it must."""
    for lack in LACKS:
        if (
            kernel in lack.kernels
            and fnmatch(probe, lack.probe)
            and fnmatch(rung, lack.rung)
        ):
            return lack.why
    return None
