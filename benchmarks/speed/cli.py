"""Measure how long ``slotwise --help`` takes: ``python -m slotwise.benchmarks cli_speed``."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

RUNS = 10
COMMAND = (sys.executable, "-m", "slotwise", "--help")


def seconds() -> float:
    """Run the help once and return the wall-clock seconds."""
    begin = time.perf_counter()
    subprocess.run(COMMAND, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the median of ten runs, after one that warms the disk's cache."""
    parser = argparse.ArgumentParser(
        "python -m slotwise.benchmarks cli_speed", description="Seconds of slotwise --help."
    )
    parser.parse_args(arguments)
    seconds()
    runs = [seconds() for _ in range(RUNS)]
    sys.stdout.write(
        f"slotwise --help: median {statistics.median(runs):.3f} s, "
        f"least {min(runs):.3f} s, most {max(runs):.3f} s of {RUNS} runs\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
