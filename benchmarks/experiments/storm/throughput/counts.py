"""What spouts have counted: tuples acked and their complete latencies, between two moments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from slotwise.models.errors import SlotwiseError


@dataclass(frozen=True, slots=True)
class Count:
    """A line of a spout's task: `ms` since 1970, and what it has counted until then."""

    ms: int
    acked: int
    latency_us: int
    failed: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What all tasks of the spouts did in an interval.

    Parameters
    ----------
    rate
        Tuples/s acked.
    latency_ms
        Mean complete latency of these.
    failed
        Tuples that failed.
    """

    rate: float
    latency_ms: float
    failed: int


def counted(folder: Path, tasks: int, start_ms: int, end_ms: int) -> Counted:
    """Return what was acked between two moments, ms since 1970.

    A task's rate is taken between its first and last line in the interval, which lie a fraction of
    a second from its ends.

    Parameters
    ----------
    folder
        Of the files of `Passing.java`.
    tasks
        Tasks of spouts.

    Raises
    ------
    SlotwiseError
        When a task acked next to nothing, or began again.
    """
    rate = latency_us = 0.0
    acked = failed = seen = 0
    for lines in _lines(folder):
        inside = [one for one in lines if start_ms <= one.ms <= end_ms]
        if len(inside) < 2:
            continue
        first, last = inside[0], inside[-1]
        seen += 1
        rate += (last.acked - first.acked) * 1000 / (last.ms - first.ms)
        acked += last.acked - first.acked
        latency_us += last.latency_us - first.latency_us
        failed += last.failed - first.failed
    if seen != tasks or not acked:
        raise SlotwiseError(f"{seen} of {tasks} spout tasks acked tuples in the interval")
    return Counted(rate, latency_us / acked / 1000, failed)


def flows_since(folder: Path, tasks: int, start_ms: int, end_ms: int, gap_ms: int = 2000) -> bool:
    """Return whether tuples were acked by the same tasks all the time, and none failed."""
    steady = 0
    for lines in _lines(folder):
        inside = [one for one in lines if start_ms <= one.ms <= end_ms]
        if not inside:
            continue
        moments = [start_ms, *(one.ms for one in inside), end_ms]
        longest = max(later - ms for ms, later in pairwise(moments))
        if longest > gap_ms or inside[-1].failed > inside[0].failed:
            return False
        steady += 1
    return steady == tasks


def _lines(folder: Path) -> Iterator[Sequence[Count]]:
    """Yield the lines of each task that counts now: of several files the one begun last."""
    files: dict[str, list[tuple[int, Path]]] = defaultdict(list)
    for path in folder.iterdir():
        task, _, begun = path.name.rpartition("-")
        files[task].append((int(begun), path))
    for of_task in files.values():
        whole = max(of_task)[1].read_text().rpartition("\n")[0]
        yield [Count(*map(int, line.split())) for line in whole.splitlines()]
