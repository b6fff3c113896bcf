"""Progress of a grading on stderr: bars on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from slotwise.benchmarks.grading.progress.tally import Tally
from slotwise.models.display import takes_escapes

PLAIN_EVERY_S = 10.0
"""Seconds between two plain lines."""
QUIET_S = 30.0
"""Seconds for which long work says nothing where no terminal is."""


class Display(Protocol):
    """Shows how far a grading is."""

    def waiting(self, what: str) -> None:
        """Show what is being waited for: no runs are under way."""

    def show(self, tally: Tally) -> None:
        """Show this; called several times a second."""

    def end(self, tally: Tally) -> None:
        """Show the last state."""


@contextmanager
def display(shown: bool, clock: Callable[[], float]) -> Iterator[Display]:
    """Give what shows progress on stderr; with `shown` false, nothing does."""
    if not shown:
        yield Silence()
    elif takes_escapes(sys.stderr):
        console = Console(file=sys.stderr)
        columns = (TextColumn("{task.description}", markup=False), BarColumn())
        with Progress(*columns, console=console, transient=True) as bars:
            yield Bars(bars)
    else:
        yield PlainLines(sys.stderr.write, clock)


class Silence:
    """Shows nothing."""

    def waiting(self, what: str) -> None:
        """Show nothing."""

    def show(self, tally: Tally) -> None:
        """Show nothing."""

    def end(self, tally: Tally) -> None:
        """Show nothing."""


class Bars:
    """A bar for all runs, with the counts beside it."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task = bars.add_task("grading", total=None)

    def waiting(self, what: str) -> None:
        """Let the bar pulse."""
        self._bars.update(self._task, description=what, total=None)

    def show(self, tally: Tally) -> None:
        """Draw the counts."""
        self._bars.update(
            self._task, description=described(tally), total=tally.total, completed=tally.done
        )

    def end(self, tally: Tally) -> None:
        """Draw the last counts; the bar goes when its context ends."""
        self.show(tally)


class PlainLines:
    """Lines for logs: one at the start, one every `PLAIN_EVERY_S`, one at the end."""

    def __init__(self, write: Callable[[str], object], clock: Callable[[], float]) -> None:
        self._write = write
        self._clock = clock
        self._next = clock()

    def waiting(self, what: str) -> None:
        """Write it: this may take some ten seconds."""
        self._write(f"slotwise: {what}\n")

    def show(self, tally: Tally) -> None:
        """Write a line if the last one is long ago."""
        if self._clock() >= self._next:
            self._say(tally)

    def end(self, tally: Tally) -> None:
        """Write the last line."""
        self._say(tally)

    def _say(self, tally: Tally) -> None:
        self._next = self._clock() + PLAIN_EVERY_S
        self._write(f"slotwise: {described(tally)}\n")


def described(tally: Tally) -> str:
    """Return the counts in words: ``120 of 400 runs, 3 failed, 2 running, 40 proven, 1 min 5 s``.

    The time left follows as soon as it is known.
    """
    counts = (
        f"{tally.done} of {tally.total} runs, {tally.failed} failed, {tally.running} running, "
        f"{tally.proven} proven, {clock_text(tally.seconds)}"
    )
    left = tally.seconds_left()
    if left is None or not round(left[0]):
        return counts
    seconds, is_least = left
    return f"{counts}, {'at least' if is_least else 'about'} {clock_text(seconds)} left"


def waiting_for(what: str, shown: bool) -> AbstractContextManager[object]:
    """Show on a terminal's stderr what is being waited for, until the context ends."""
    if not (shown and takes_escapes(sys.stderr)):
        return nullcontext()
    return Console(file=sys.stderr).status(what)


@contextmanager
def stages(
    shown: bool, share: Callable[[], tuple[int, int] | None]
) -> Iterator[Callable[[str], None]]:
    """Give what shows on stderr which stage long work is in, its `share`, and for how long.

    On a terminal at once; elsewhere a plain line every `PLAIN_EVERY_S`, from `QUIET_S` on.
    """
    if not shown:
        yield lambda _: None
        return
    stage, begun = [""], time.monotonic()
    is_terminal = takes_escapes(sys.stderr)
    status = Console(file=sys.stderr).status("") if is_terminal else None
    ended = threading.Event()

    def words() -> str:
        done = share()
        tasks = "" if done is None else f", {done[0]} of {done[1]} tasks"
        return f"{stage[0]}{tasks}, {clock_text(time.monotonic() - begun)}"

    def run() -> None:
        while not ended.wait(1 if status else PLAIN_EVERY_S):
            if not stage[0]:  # nothing has begun
                continue
            if status:
                status.update(words())
            elif time.monotonic() - begun >= QUIET_S:
                sys.stderr.write(f"slotwise: {words()}\n")

    def say(what: str) -> None:
        stage[0] = what
        if status:
            status.update(words())

    teller = threading.Thread(target=run, daemon=True)
    with status or nullcontext():
        teller.start()
        try:
            yield say
        finally:
            ended.set()
            teller.join()


def clock_text(seconds: float) -> str:
    """Return a length of time for people: ``12 s``, ``2 min 5 s``, ``3 h 20 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
