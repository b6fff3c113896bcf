"""A process that does runs, and the server that it is forked from; `supervisor` says which runs.

It reads batches of runs from its connection and writes a line of JSON after each run. It may die
at any time: that becomes a row.
"""

from __future__ import annotations

import json
import os
import pickle
import socket
from collections.abc import Sequence
from typing import BinaryIO

from slotwise.benchmarks.grading.plan import PlannedRun
from slotwise.benchmarks.grading.preload import preload
from slotwise.benchmarks.grading.rows import EXACT_KINDS, Kind
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.processes.fork_server import ForkServer


def main() -> None:
    """Be the server."""
    ForkServer(_Preparation(), do_runs).serve()


class _Preparation:
    """Imports what runs of a kind need; loads compiled loops once they are in the cache.

    They are looked for before the second, the fourth, the eighth exact run and so on: a few runs
    would take less time than loading what others have left in the cache.
    """

    def __init__(self) -> None:
        self._exact_runs = 0

    def __call__(self, kind: str) -> None:
        preload(Kind(kind))
        if kind in EXACT_KINDS:
            self._exact_runs += 1
            if self._exact_runs > 1 and self._exact_runs.bit_count() == 1:
                from slotwise.benchmarks.grading.children.compiled_loops import load_compiled_loops

                load_compiled_loops()


def do_runs(connection: socket.socket) -> None:
    """Do what `connection` asks for until it ends."""
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
