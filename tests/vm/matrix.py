# SPDX-License-Identifier: MIT
"""In a guest: every rung of every probe, one after the other. A line of JSON
for each goes to the shared folder as soon as it is known, so that a kernel
that ends has told what it did before.

Reads $SHARE/probes, what tests/vm/describe printed; writes $SHARE/results.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import daemon  # noqa: E402
import experiments  # noqa: E402
from lab import Lab, Off, Wrong  # noqa: E402

SHARE = Path(os.environ["SHARE"])
ROW_SECONDS = 120


def own_probes(directory: Path) -> Path:
    """The objects as files of root's: the build need not be root's."""
    directory.mkdir()
    for path in daemon.PROBE_DIR.glob("*.bpf.o"):
        shutil.copy(path, directory)
    return directory


def no_experiment(lab: Lab) -> None:
    lab.start()
    raise Wrong("measuring, no experiment")


def overdue(*_) -> None:
    raise TimeoutError(f"took more than {ROW_SECONDS} s")


def try_rung(probe: str, rung: str) -> tuple[str, str]:
    """State and reason."""
    experiment = getattr(experiments, probe, no_experiment)
    directory = Path(tempfile.mkdtemp())
    lab = Lab(probe, rung, directory)
    signal.alarm(ROW_SECONDS)
    try:
        with lab.undo:
            experiment(lab)
        return "measuring", "; ".join(lab.notes)
    except Off as off:
        return "off", str(off)
    except Wrong as wrong:
        return "failed", str(wrong)
    except Exception as error:
        line = traceback.extract_tb(error.__traceback__)[-1].line
        return "failed", f"{type(error).__name__}: {error} in `{line}`"
    finally:
        signal.alarm(0)
        if lab.daemon:
            print(lab.daemon.tell(f"{probe}, rung {rung}"), flush=True)
        shutil.rmtree(directory, ignore_errors=True)


def main() -> None:
    signal.signal(signal.SIGALRM, overdue)
    daemon.PROBE_DIR = own_probes(Path(tempfile.mkdtemp()) / "probes")
    with open(SHARE / "results", "w") as results:
        for line in (SHARE / "probes").read_text().splitlines():
            probe = json.loads(line)
            for rung in probe["rungs"]:
                start = time.monotonic()
                state, reason = try_rung(probe["name"], rung)
                row = {
                    "probe": probe["name"],
                    "rung": rung,
                    "state": state,
                    "reason": reason,
                    "seconds": round(time.monotonic() - start, 1),
                }
                print(json.dumps(row), file=results, flush=True)


main()
