# SPDX-License-Identifier: MIT
"""A private collectd in the foreground, with our plugin from the build tree.

Own directories, no port, an interval of one second; csv and log files in the
directory it is given. Knows how to start, wait for and stop a daemon; what is
expected of it stands in the tests.
"""

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from csv_files import Csv

SRCDIR = Path(os.environ["EBPF_LATENCY_SRCDIR"])
BUILDDIR = Path(os.environ["EBPF_LATENCY_BUILDDIR"])
PLUGIN_SO = BUILDDIR / ".libs" / "ebpf_latency.so"
PROBE_DIR = BUILDDIR / "bpf"

INTERVAL_S = 1
HOST = "e2e"

# Runs the command that follows in a mount namespace of its own, after the
# shell commands that are its first argument.
NAMESPACE = ["unshare", "--mount", "--propagation", "private", "sh", "-ec"]


def in_namespace(commands: str) -> list[str]:
    return [*NAMESPACE, f'{commands}\nexec "$@"', "sh"]


def stock_plugin_dir() -> Path:
    text = subprocess.run(
        ["collectd", "-h"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    match = re.search(r"^ *Plugin directory +(\S+)$", text, re.MULTILINE)
    assert match, f"collectd -h names no plugin directory:\n{text}"
    return Path(match[1])


def load_own_plugin(block: str = "", probe_dir: Path = PROBE_DIR) -> str:
    """The lines that load our plugin from the build tree, configured."""
    return f"""
PluginDir "{PLUGIN_SO.parent}"
LoadPlugin ebpf_latency
<Plugin ebpf_latency>
  ProbeDir "{probe_dir}"
{block}
</Plugin>
"""


class Collectd:
    def __init__(
        self, directory: Path, plugin_lines: str, wrapper: Sequence[str] = ()
    ):
        """`wrapper` is the start of a command line that ends with collectd's
        own, and execs it."""
        self.directory = directory
        self.directory.mkdir()
        self.wrapper = wrapper
        self.process: subprocess.Popen | None = None
        self.log_file = directory / "collectd.log"
        self.config_file = directory / "collectd.conf"
        self.config_file.write_text(f"""
Hostname "{HOST}"
FQDNLookup false
Interval {INTERVAL_S}
# Several turn two values of a series around when the machine stalls.
WriteThreads 1
BaseDir "{directory}"
PIDFile "{directory}/collectd.pid"
PluginDir "{stock_plugin_dir()}"
LoadPlugin logfile
<Plugin logfile>
  LogLevel info
  File "{self.log_file}"
  Timestamp true
  PrintSeverity true
</Plugin>
LoadPlugin csv
<Plugin csv>
  DataDir "{directory}/csv"
</Plugin>
{plugin_lines}
""")

    def command(self, *options: str) -> list[str]:
        return [*self.wrapper, "collectd", *options, "-C", self.config_file]

    def start(self) -> None:
        with open(self.directory / "output", "w") as output:
            self.process = subprocess.Popen(
                self.command("-f"),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def run(self, *options: str) -> subprocess.CompletedProcess:
        """Runs it to its own end, as for a configuration that stops it."""
        return subprocess.run(
            self.command(*options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=20,
        )

    def csv(self, plugin: str = "ebpf_latency") -> Csv:
        return Csv(self.directory / "csv" / HOST, plugin)

    def log(self) -> list[str]:
        if not self.log_file.exists():
            return []
        return self.log_file.read_text(errors="replace").splitlines()

    def own_log(self, *severities: str) -> list[str]:
        """Our plugin's messages; without severities, all of them."""
        return [
            line
            for line in self.log()
            if "ebpf_latency plugin: " in line
            and (not severities or any(f"[{s}]" in line for s in severities))
        ]

    def reads(self) -> int:
        """How often our plugin's series have arrived."""
        csv = self.csv()
        return max(
            (len(csv.series(i, "gauge", "up")) for i in csv.instances()),
            default=0,
        )

    def wait_for_reads(self, count: int) -> None:
        """Waits until `count` more reads have arrived."""
        goal = self.reads() + count
        deadline = time.monotonic() + (count + 10) * INTERVAL_S
        while self.reads() < goal:
            assert self.is_alive(), self.tell("collectd ended")
            assert time.monotonic() < deadline, self.tell("nothing was read")
            time.sleep(0.05)

    def is_alive(self) -> bool:
        """One that went to the background counts as alive."""
        return self.process is None or self.process.poll() is None

    def settle(self) -> None:
        """Returns when all that has happened so far has been read: the next
        read may have begun already, the one after it has not."""
        self.wait_for_reads(2)

    def stop(self, number: int = signal.SIGTERM) -> float:
        """Ends it; returns how many seconds that took."""
        start = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(timeout=15)
        return time.monotonic() - start

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def tell(self, what: str) -> str:
        lines = [f"{what}; log and output:", *self.log()]
        if self.process:
            output = self.directory / "output"
            lines += output.read_text(errors="replace").splitlines()
        return "\n".join(lines)
