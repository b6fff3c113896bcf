"""A process that does runs: forked by `fork_server`, told what to run by `supervisor`.

It reads batches of runs from its connection and writes a line of JSON after each run. It may die
at any time: that becomes a row.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NoReturn

from slotwise.benchmarks.grading.children.descent import adopt_orphans, die_with_parent
from slotwise.benchmarks.grading.children.environment import leave_server
from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.run import Loader, outcome

KILLED_FIRST = "500"
"""The kernel ends a run before anything else of ours where memory runs out (``oom_score_adj``)."""


def do_runs_and_exit(
    connection: socket.socket, printed: int, folder: str | None, parent: int
) -> NoReturn:
    """Do what `connection` asks for until it ends, then leave this process.

    Parameters
    ----------
    connection
        Batches of runs come from here, answers go there.
    printed
        A pipe for what solvers and methods print, by its descriptor.
    folder
        Where relative paths start; ``None`` = where the process is.
    parent
        Process id of the server: this process ends with it.
    """
    code = 1
    try:
        _settle(printed, folder, parent)
        _serve(connection)
        code = 0
    finally:
        # No handler of a method at exit, and no thread that it left, keeps this process.
        error = sys.exception()
        if error is not None:
            traceback.print_exception(error)
        sys.stderr.flush()
        os._exit(code)


def _settle(printed: int, folder: str | None, parent: int) -> None:
    """Be a process of its own: session, signals, environment, streams, folder, random numbers."""
    os.setsid()
    die_with_parent(parent)
    adopt_orphans()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    leave_server()
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    os.close(printed)
    score = Path("/proc/self/oom_score_adj")
    if score.exists():
        score.write_text(KILLED_FIRST, encoding="ascii")
    if folder is not None:
        os.chdir(folder)
    random.seed(0)  # a fork begins with other numbers each time


def _serve(connection: socket.socket) -> None:
    load, own = Loader(), os.getpid()
    with connection.makefile("rb") as requests:
        while runs := _next_batch(requests):
            for run in runs:
                line = json.dumps(outcome(run, load)) + "\n"
                if os.getpid() != own:  # a method has forked and come back twice
                    return
                connection.sendall(line.encode())


def _next_batch(requests: BinaryIO) -> Sequence[PlannedRun]:
    """Return the next runs; none at the end."""
    try:
        batch: Sequence[PlannedRun] = pickle.load(requests)
    except EOFError:
        return ()
    return batch
