"""Progress of ``profile`` on stderr: the present trial, and an upper bound of the time left."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as RichProgress

from slotwise.models.display import takes_escapes
from slotwise.pipeline.profiling.settings import Settings
from slotwise.pipeline.profiling.sweep import LEAST_RATE
from slotwise.pipeline.profiling.trial import Trial, trial_seconds

OVERHEAD_S = 1.0
"""Seconds that starting and ending a trial takes, about."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Shows each trial before and after it runs.

    Parameters
    ----------
    say
        Called with a line, and the share of the thread counts that is done.
    """

    say: Callable[[str, float], None]

    def around(
        self, run: Callable[..., Trial], threads: int, rate: float, settings: Settings
    ) -> Trial:
        """Run a trial, and show it with its result."""
        part = settings.threads.index(threads) / len(settings.threads)
        left = _clock(most_seconds(threads, rate, settings))
        self.say(f"{threads} threads, {rate:g} tuples/s; at most {left} more", part)
        trial = run(threads, rate, settings)
        result = "stable" if trial.stable else "unstable"
        self.say(f"{threads} threads, {rate:g} tuples/s: {result}", part)
        return trial


def most_seconds(threads: int, rate: float, settings: Settings) -> float:
    """Return an upper bound of the time left if every number of threads is tried.

    Doubling from the present rate to the highest, halving down to the resolution, each twice;
    the former for this number of threads only, since the next ones begin where it ends. Until
    one rate is stable, lower ones may follow, whose trials last longer.
    """
    doubling = math.ceil(math.log2(max(2.0, settings.max_rate / rate)))
    halving = math.ceil(math.log2(1 / settings.resolution)) + 1
    counts = len(settings.threads) - settings.threads.index(threads)
    each = settings.warm_up + trial_seconds(rate, settings) + OVERHEAD_S
    falling = 2 * settings.least_tuples / LEAST_RATE if rate <= settings.first_rate else 0.0
    return falling + 2 * each * (doubling + counts * (halving + 1))


@contextmanager
def progress(quiet: bool) -> Iterator[Shown]:
    """Yield the display of a profile's progress: a bar on a terminal, lines elsewhere."""
    if quiet:
        yield Shown(lambda line, part: None)
    elif takes_escapes(sys.stderr):
        columns = (BarColumn(), TextColumn("{task.description}", markup=False))
        console = Console(stderr=True)
        with RichProgress(*columns, console=console, transient=True) as bar:
            task: TaskID = bar.add_task("", total=1.0)

            def draw(line: str, part: float) -> None:
                bar.update(task, description=line, completed=part)

            yield Shown(draw)
    else:
        yield Shown(lambda line, part: typer.echo(line, err=True))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
