# SPDX-License-Identifier: MIT
"""Configuration errors, through collectd's own parser: both `collectd -T` and
`collectd` end with a status that is not 0 and one line that tells where."""

import pytest

from daemon import load_own_plugin

PLUGIN = "<Plugin ebpf_latency>"
SYSCALL = '<Probe "syscall">'


def in_probe(line: str) -> str:
    return f"{SYSCALL}\n{line}\n</Probe>\n"


# What is wrong -> the block's lines, and what the error must name: block, key
# and value.
CASES = {
    "unknown key": ("Bogus 7", [PLUGIN, "Bogus", "7"]),
    "unknown probe": ('<Probe "nosuch">\n</Probe>', ["Probe", "nosuch"]),
    "unknown key in a probe": (in_probe("Bogus 7"), [SYSCALL, "Bogus", "7"]),
    "number for a string": (in_probe("Process 7"), [SYSCALL, "Process", "7"]),
    "string for a number": (
        'Percentile "50"',
        [PLUGIN, "Percentile", '"50"'],
    ),
    "string for a boolean": (
        'Buckets "maybe"',
        [PLUGIN, "Buckets", '"maybe"'],
    ),
    "missing value": ("BucketBounds 256", [PLUGIN, "BucketBounds", "256"]),
    "extra value": ("MaxGroups 4 5", [PLUGIN, "MaxGroups", "4 5"]),
    "negative": ("Percentile -1", [PLUGIN, "Percentile", "-1"]),
    "negative count": ("MaxGroups -4", [PLUGIN, "MaxGroups", "-4"]),
    "percentile above 100": ("Percentile 101", [PLUGIN, "Percentile", "101"]),
    "decimal comma": ('Percentile "99,9"', [PLUGIN, "Percentile", '"99,9"']),
    "exponent": ("Percentile 1e2", [PLUGIN, "Percentile", '"1e2"']),
    "large exponent": ("MaxGroups 1e20", [PLUGIN, "MaxGroups", '"1e20"']),
    "large number": (
        "MaxGroups 100000000000000000000",
        [PLUGIN, "MaxGroups", "100000000000000000000"],
    ),
    "zero groups": ("MaxGroups 0", [PLUGIN, "MaxGroups", "0"]),
    "no whole number": ("MaxGroups 3.7", [PLUGIN, "MaxGroups", "3.7"]),
    "no power of two": (
        "BucketBounds 256 1000",
        [PLUGIN, "BucketBounds", "1000"],
    ),
    "bounds in the wrong order": (
        "BucketBounds 1024 256",
        [PLUGIN, "BucketBounds", "1024 256"],
    ),
    "relative directory": ('ProbeDir "bpf"', [PLUGIN, "ProbeDir", '"bpf"']),
    "no such directory": (
        'ProbeDir "/no/such"',
        [PLUGIN, "ProbeDir", '"/no/such"'],
    ),
    "pid 0": (in_probe("Pid 0"), [SYSCALL, "Pid", "0"]),
    "percentile in a probe": (
        in_probe("Percentile 50 101"),
        [SYSCALL, "Percentile", "101"],
    ),
    "probe named twice": (
        2 * in_probe(""),
        [PLUGIN, "Probe", '"syscall"'],
    ),
    "unknown label": (
        in_probe('GroupBy "nosuch"'),
        [SYSCALL, "GroupBy", '"nosuch"'],
    ),
    "label of another probe": (
        in_probe('GroupBy "device"'),
        [SYSCALL, "GroupBy", '"device"'],
    ),
    "label twice": (
        in_probe('GroupBy "comm" "comm"'),
        [SYSCALL, "GroupBy", '"comm"'],
    ),
    "none with another label": (
        in_probe('GroupBy "none" "comm"'),
        [SYSCALL, "GroupBy", '"comm"', '"none"'],
    ),
    "unknown system call": (
        in_probe('Syscall "read" "nosuch"'),
        [SYSCALL, "Syscall", '"nosuch"'],
    ),
    "function that is none": (
        '<Probe "funclat">\n<Function 7>\nBinary "/x"\n</Function>\n</Probe>',
        ['<Probe "funclat">', "Function", "7"],
    ),
    "no function": ('<Probe "funclat">\n</Probe>', ["funclat", "Function"]),
    "key in a function": (
        '<Probe "funclat">\n<Function "f">\nBinry "/x"\n</Function>\n</Probe>',
        ['<Probe "funclat">', '<Function "f">', "Binry", '"/x"'],
    ),
    "function twice": (
        '<Probe "funclat">\n'
        + 2 * '<Function "f">\nBinary "/x"\n</Function>\n'
        + "</Probe>",
        ['<Probe "funclat">', "Function", '"f"'],
    ),
    "relative binary": (
        '<Probe "malloc">\nBinary "libc.so.6"\n</Probe>',
        ['<Probe "malloc">', "Binary", '"libc.so.6"'],
    ),
    "binary of another probe": (
        in_probe('Binary "/x"'),
        [SYSCALL, "Binary", '"/x"'],
    ),
    "option of another probe": (
        '<Probe "runqlat">\nSyscall "read"\n</Probe>',
        ['<Probe "runqlat">', "Syscall", '"read"'],
    ),
}

# What collectd's parser itself refuses: no word of ours, but it must not run.
SYNTAX = {
    "no value": "Percentile",
    "block without end": SYSCALL,
}


def assert_stops(daemon, options):
    ended = daemon.run(*options)
    assert ended.returncode not in (0, None), ended.stdout
    return ended.stdout


@pytest.mark.parametrize("options", [("-T",), ("-f",)], ids=["T", "f"])
@pytest.mark.parametrize("what", CASES)
def test_error(collectd, what, options):
    block, named = CASES[what]
    daemon = collectd.configure(block)
    assert_stops(daemon, options)
    errors = daemon.own_log("error")
    assert len(errors) == 1, daemon.log()
    for text in named:
        assert text in errors[0]


@pytest.mark.parametrize("what", SYNTAX)
def test_syntax_error(collectd, what):
    daemon = collectd.configure(SYNTAX[what])
    assert_stops(daemon, ("-T",))
    assert_stops(daemon, ("-f",))


def test_error_in_the_second_block(collectd):
    second = "<Plugin ebpf_latency>\nMaxGroups 0\n</Plugin>\n"
    daemon = collectd.configure(own_lines=load_own_plugin() + second)
    assert_stops(daemon, ("-f",))
    assert len(daemon.own_log("error")) == 1


def test_probe_dir_without_the_probe(collectd, tmp_path):
    """A probe that was asked for by name must be there."""
    own_lines = load_own_plugin(in_probe(""), probe_dir=tmp_path)
    daemon = collectd.configure(own_lines=own_lines)
    assert_stops(daemon, ("-f",))
    (error,) = daemon.own_log("error")
    assert SYSCALL in error and str(tmp_path) in error


def test_good_configuration(collectd):
    """collectd -T with every option that there is."""
    daemon = collectd.configure(
        """
        Percentile 50 99
        Percentile 99.99
        Buckets true
        CumulativeBuckets true
        BucketBounds 1024 1073741824
        MaxGroups 8
        <Probe "syscall">
          GroupBy "syscall" "comm"
          Syscall "read" "write" "futex"
          Process "collectd"
          Pid 1
          Percentile 50
        </Probe>
        <Probe "runqlat">
          GroupBy "none"
        </Probe>
        """
    )
    tested = daemon.run("-T")
    assert tested.returncode == 0, daemon.log()
    assert not daemon.own_log("error", "warning")
