"""Progress of a solve on stderr: a live line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from slotwise.models.display import takes_escapes
from slotwise.models.values import GAP_FLOOR, short_text
from slotwise.solver.core.progress import Event, OnProgress, Progress

PLAIN_EVERY_S = 5.0
"""Seconds before the first plain line, and at least between two."""


@contextmanager
def progress(terms: Sequence[str], quiet: bool) -> Iterator[OnProgress | None]:
    """Yield the display of the progress of a solve with these terms; ``None`` where it is off."""
    if quiet:
        yield None
    elif takes_escapes(sys.stderr):
        line = LiveLine(terms)
        console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        with Live(line, console=console, transient=True, refresh_per_second=4):
            yield line.take
    else:
        yield PlainLines(terms, sys.stderr.write).take


class LiveLine:
    """One line that is redrawn with the elapsed time."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms = terms
        self._started = time.perf_counter()
        self._engine = ""
        self._last: Progress | None = None

    def take(self, event: Progress) -> None:
        """Show this event from now on."""
        if event.event is Event.ENGINE:
            self._engine = event.engine
        self._last = event

    def __rich__(self) -> Text:
        """Draw it, cut at the terminal's width."""
        seconds = time.perf_counter() - self._started
        state = "" if self._last is None else describe(self._terms, self._last)
        text = f"{seconds:6.1f} s  {self._engine}  {state}"
        return Text(text, no_wrap=True, overflow="ellipsis")


class PlainLines:
    """Lines for logs: the latest event, at most every `PLAIN_EVERY_S` seconds."""

    def __init__(self, terms: Sequence[str], write: Callable[[str], object]) -> None:
        self._terms = terms
        self._write = write
        self._next_s = PLAIN_EVERY_S

    def take(self, event: Progress) -> None:
        """Write a line if enough time has passed since the last one."""
        if event.seconds < self._next_s:
            return
        self._next_s = event.seconds + PLAIN_EVERY_S
        said = describe(self._terms, event)
        self._write(f"slotwise: {event.seconds:.1f} s, {event.engine}: {said}\n")


def describe(terms: Sequence[str], event: Progress) -> str:
    """Return values and bounds up to the first open term: ``network 23, bound 20 (13.04 %)``."""
    if event.values is None:
        return "no placement yet"
    parts = []
    for term, value, bound in zip(terms, event.values, event.bounds, strict=True):
        if bound is None:
            parts.append(f"{term} {short_text(value)}, no bound")
        elif bound == value:
            parts.append(f"{term} {short_text(value)} proven")
            continue
        else:
            share = 100 * float((value - bound) / max(abs(value), GAP_FLOOR))
            parts.append(f"{term} {short_text(value)}, bound {short_text(bound)} ({share:.2f} %)")
        break
    return ", ".join(parts)
