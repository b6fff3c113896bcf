"""Measure how long ``slotwise --help`` takes: experiment ``cli_speed``."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

from slotwise.benchmarks.experiments.table import say

COMMAND = (sys.executable, "-m", "slotwise", "--help")


def seconds() -> float:
    """Run the help once and return the wall-clock seconds."""
    begin = time.perf_counter()
    subprocess.run(COMMAND, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--runs", type=int, default=10)


def run(options: argparse.Namespace) -> None:
    """Print the median, after one run that warms the disk's cache."""
    seconds()
    runs = [seconds() for _ in range(options.runs)]
    say(
        f"slotwise --help: median {statistics.median(runs):.3f} s, "
        f"least {min(runs):.3f} s, most {max(runs):.3f} s of {len(runs)} runs"
    )
