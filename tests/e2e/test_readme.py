# SPDX-License-Identifier: MIT
"""The README's probe is a probe: it compiles as it stands, and measures."""

import re
import subprocess

from daemon import SRCDIR, load_own_plugin


def example() -> str:
    (code,) = re.findall(
        r"^```c\n(.*?)^```$",
        (SRCDIR / "README.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    return code


def test_example_of_a_probe(collectd, tmp_path):
    directory = tmp_path / "probes"
    directory.mkdir()
    source = directory / "worklat.bpf.c"
    source.write_text(example())
    multiarch = subprocess.run(
        ["gcc", "-print-multiarch"], stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    target = directory / "worklat.bpf.o"
    subprocess.run(
        ["clang", "-g", "-O2", "-target", "bpf", "-mcpu=v3", "-Wall", "-Wextra"]
        + ["-Wno-unused-parameter", "-Werror", "-D__TARGET_ARCH_x86"]
        + [f"-I{SRCDIR}/bpf", f"-I/usr/include/{multiarch}"]
        + ["-c", source, "-o", target],
        check=True,
    )
    target.chmod(0o644)
    block = '<Probe "worklat">\n</Probe>'
    daemon = collectd(own_lines=load_own_plugin(block, directory))
    subprocess.run(["sync"], check=True)
    daemon.settle()
    daemon.stop()
    assert daemon.csv().last("worklat", "gauge", "up") == 1
    assert daemon.csv().last("worklat", "derive", "count") > 0
