"""How soon Ctrl-C ends a solve, and what it keeps: experiment ``interrupts``.

Each instance is solved again and again in a process of its own, Ctrl-C comes at a random moment,
and what comes out is judged. Moments are counted from the start of the process: the earliest
ones fall into loading, where there is nothing to keep yet.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slotwise.benchmarks.experiments.table import say
from slotwise.models.formats.placement_file import answer_from_data
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Refusal
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.judge import judge

INTERRUPTED = 130
"""The exit code of a solve that was interrupted."""
DONE_CODES = (0, 1, 3)
"""Of a solve that had already ended."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """What came of one Ctrl-C.

    Parameters
    ----------
    after_s, late_s
        When it came, and how long the process took to end then.
    code
        Its exit code.
    value, bound
        Of the first term that is not closed; ``None`` where there is none.
    kept
        Whether a placement was kept; it was judged valid.
    """

    after_s: float
    late_s: float
    code: int
    value: float | None
    bound: float | None
    kept: bool


def interrupt(command: Sequence[str], instance: Instance, after_s: float) -> Interrupt:
    """Start `command`, press Ctrl-C after that many seconds, and judge what it prints.

    Raises
    ------
    RuntimeError
        When it ends with another exit code, or what it kept breaks a rule.
    """
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        process.communicate(timeout=after_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    pressed = time.perf_counter()
    out, err = process.communicate()
    late = time.perf_counter() - pressed
    # Python ends by the signal itself, which shells call 130, where it hit while modules load.
    code = INTERRUPTED if process.returncode == -signal.SIGINT else process.returncode
    if code not in (INTERRUPTED, *DONE_CODES):
        raise RuntimeError(f"exit code {code}: {err[-300:]}")
    return _judged(instance, out, after_s, late, code)


def _judged(instance: Instance, out: str, after_s: float, late_s: float, code: int) -> Interrupt:
    document = json.loads(out) if out else {"objective": [], "placement": None}
    terms = document["objective"]
    first = next((t for t in terms if t["value"] != t["bound"]), terms[-1] if terms else {})
    has_placement = document["placement"] is not None
    if has_placement:
        placement = answer_from_data(document["placement"], instance)
        if isinstance(placement, Refusal):
            raise RuntimeError(placement.reason)
        verdict = judge(instance, placement)
        values = [float(term.value) for term in verdict.objective]
        if not verdict.valid or values != [float(term["value"]) for term in terms]:
            raise RuntimeError("what was kept differs from the judge's result")
    return Interrupt(after_s, late_s, code, first.get("value"), first.get("bound"), has_placement)


def run(options: argparse.Namespace) -> None:
    """Measure every instance and print a line each time."""
    rng = np.random.default_rng(options.seed)
    for path in options.instance:
        instance = read_instance(path)
        words = ["solve", str(path), "--json", "--quiet", "--engine", options.engine]
        words += ["--time-limit", str(options.time_limit), "--workers", str(options.workers)]
        late = []
        for after in sorted(rng.uniform(options.least, options.most, options.moments).tolist()):
            end = interrupt([sys.executable, "-m", "slotwise", *words], instance, after)
            late.append(end.late_s)
            say(
                f"{path.stem:<24} after {end.after_s:6.2f} s: ended {end.late_s:5.2f} s later, "
                f"code {end.code}, value {end.value}, bound {end.bound}"
            )
        say(f"{path.stem:<24} latest {max(late):.2f} s, median {np.median(late):.2f} s")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("instance", type=Path, nargs="+", metavar="INSTANCE")
    parser.add_argument("--moments", type=int, default=10, help="how often each is interrupted")
    parser.add_argument("--least", type=float, default=1.0, metavar="S", help="earliest moment")
    parser.add_argument("--most", type=float, default=20.0, metavar="S", help="latest moment")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
