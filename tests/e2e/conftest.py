# SPDX-License-Identifier: MIT
"""Fixtures: a private collectd, load, block devices; each put back after use.

Run by `make check-kernel`, which says in the environment where the sources and
the build are. Without root or BPF every test is skipped, with the reason.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from block import LoopDevice  # noqa: E402
from daemon import BUILDDIR, Collectd, load_own_plugin  # noqa: E402
from daemon import stock_plugin_dir  # noqa: E402

FORBIDDEN = re.compile(
    "Value too old|Dataset not found|Will suspend", re.IGNORECASE
)


def what_is_missing() -> str | None:
    if os.geteuid() != 0:
        return "needs root"
    for tool in ("collectd", "bpftool", "unshare", "setpriv", "losetup"):
        if not shutil.which(tool):
            return f"needs {tool}"
    shown = subprocess.run(
        ["bpftool", "prog", "show"], capture_output=True, text=True
    )
    if shown.returncode != 0:
        return f"this kernel refuses bpf(2): {shown.stderr.strip()}"
    return None


def pytest_collection_modifyitems(items):
    if reason := what_is_missing():
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


class Daemons:
    """Makes one collectd after the other, each in a directory of its own."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.made: list[Collectd] = []

    def configure(
        self,
        block: str = "",
        *,
        own_lines: str | None = None,
        plugin_lines: str = "",
        wrapper: Sequence[str] = (),
    ) -> Collectd:
        """`block` goes into our plugin's block, `own_lines` in place of all
        that loads our plugin, `plugin_lines` before, for other plugins."""
        if own_lines is None:
            own_lines = load_own_plugin(block)
        directory = self.directory / f"collectd{len(self.made)}"
        daemon = Collectd(directory, plugin_lines + own_lines, wrapper)
        self.made.append(daemon)
        return daemon

    def __call__(self, *arguments, **options) -> Collectd:
        """The same, started, and its first read is over."""
        daemon = self.configure(*arguments, **options)
        daemon.start()
        daemon.wait_for_reads(1)
        return daemon


@pytest.fixture
def collectd(tmp_path):
    """Whatever a test does with it: at the end no daemon is left, and none of
    them has logged what a plugin that does wrong brings about."""
    daemons = Daemons(tmp_path)
    yield daemons
    for daemon in daemons.made:
        daemon.kill()
        print(daemon.tell(str(daemon.directory)))  # shown when a test fails
    log = [line for daemon in daemons.made for line in daemon.log()]
    assert not [line for line in log if FORBIDDEN.search(line)]


@pytest.fixture
def loop_device(tmp_path):
    device = LoopDevice(tmp_path / "loop.img", size=64 << 20)
    yield device
    device.detach()


@pytest.fixture
def mounted(loop_device, tmp_path):
    """An ext4 file system on the loop device, with nothing left to do."""
    directory = tmp_path / "mount"
    directory.mkdir()
    loop_device.make_file_system()
    subprocess.run(["mount", loop_device.path, directory], check=True)
    yield directory
    subprocess.run(["umount", directory], check=True)


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> tuple[Path, Path]:
    """The plugin directory as `make install` leaves it, and where it belongs:
    the stock plugins with ours among them."""
    stage = tmp_path_factory.mktemp("stage")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    made = subprocess.run(
        ["make", "-C", BUILDDIR, "install", f"DESTDIR={stage}"],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    (plugin,) = stage.rglob("ebpf_latency.so")
    place = Path("/") / plugin.parent.relative_to(stage)
    shutil.copytree(stock_plugin_dir(), plugin.parent, dirs_exist_ok=True)
    return plugin.parent, place
