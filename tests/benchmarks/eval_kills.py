"""A run of `xmemory eval run` that is killed (SIGKILL) again and again ends with the results of one that is not.

    python -m tests.benchmarks.eval_kills [--kills 2] [--seed 0] [--data FILE --dataset locomo …]

Both are `--embedded`: each kill takes the server with it, in the middle of whatever it does. The kills come once a
random share of the requests is done; what is left of the arguments goes to both runs. Prints where each kill fell, and
the difference: everything of a row but its time must be the same.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

USUAL = ("--dataset", "sample", "--strategy", "adaptive", "--strategy", "bm25", "--answers")
LOOK_SECONDS = 0.05


def command(folder: Path, arguments: Sequence[str]) -> list[str]:
    """The run, in this Python."""
    return [sys.executable, "-m", "app.cli", "eval", "run", "--embedded", "--out", str(folder), *arguments]


def done(folder: Path) -> int:
    """Whole lines of results so far."""
    path = folder / "results.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def killed(folder: Path, arguments: Sequence[str], at: int) -> int:
    """Start the run and kill it once `at` requests are done; how many were."""
    process = subprocess.Popen(command(folder, arguments), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while done(folder) < at:
        if process.poll() is not None:
            raise SystemExit(f"the run ended by itself with status {process.returncode}")
        time.sleep(LOOK_SECONDS)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return done(folder)


def rows(folder: Path) -> list[dict[str, Any]]:
    """The results without their times."""
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in line.items() if name != "milliseconds"} for line in lines]


def main() -> None:
    """Run both, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given, rest = parser.parse_known_args()
    arguments = rest or USUAL
    with TemporaryDirectory(prefix="xm-kills-") as place:
        whole, broken = Path(place) / "whole", Path(place) / "broken"
        subprocess.run(command(whole, arguments), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        total = done(whole)
        drawn = random.Random(given.seed)
        for at in sorted(drawn.sample(range(1, total), given.kills)):
            print(f"killed when {killed(broken, arguments, at)} of {total} requests were done", flush=True)
        subprocess.run(command(broken, arguments), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        different = [pair for pair in zip(rows(whole), rows(broken), strict=True) if pair[0] != pair[1]]
        print(f"{total} requests, {len(different)} of them different")
        print(*different[:3], sep="\n")
    raise SystemExit(bool(different))


if __name__ == "__main__":
    main()
