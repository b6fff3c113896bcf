"""The child process that runs solvers and methods; `supervisor` starts it.

Reads a line with a list of runs on stdin, writes two lines per run on stdout: a blank one when
the run starts, then its outcome as JSON. It may die at any time: its parent makes that a row.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import NoReturn

from slotwise.benchmarks.child_process import take_stdout
from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.preload import preload
from slotwise.benchmarks.grading.rows import Kind
from slotwise.benchmarks.grading.run import Loader, outcome

LEAVE_S = 2.0
"""Seconds that a run has to end what it started."""


def main() -> None:
    """Run what stdin asks for."""
    signal.signal(signal.SIGTERM, _leave)
    line = sys.stdin.buffer.readline()
    threading.Thread(target=_follow_parent, daemon=True).start()
    answers = take_stdout()
    load = Loader()
    for document in json.loads(line):
        run = PlannedRun.from_document(document)
        preload(Kind(run.kind))
        answers.write("\n")
        answers.flush()
        answers.write(json.dumps(outcome(run, load)) + "\n")
        answers.flush()


def _follow_parent() -> None:
    """End this process when the parent has gone: stdin ends then.

    First by SIGTERM, which lets a method end the commands it started, then for good.
    """
    while os.read(0, 1 << 16):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(LEAVE_S)
    os.kill(os.getpid(), signal.SIGKILL)


def _leave(*_: object) -> NoReturn:
    sys.exit(1)


if __name__ == "__main__":
    main()
