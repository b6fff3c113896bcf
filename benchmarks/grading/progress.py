"""The progress bar of a grading, on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class ProgressBar(Protocol):
    """Receives how far the work is."""

    def __call__(self, done: int) -> None:
        """Say how many tasks of all are done."""


@contextmanager
def progress_bar(total: int, shown: bool) -> Iterator[ProgressBar]:
    """Show a bar on a terminal's stderr; elsewhere, or when not wanted, show nothing."""
    console = Console(file=sys.stderr)
    columns = (
        TextColumn("grading"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tasks"),
        TimeElapsedColumn(),
    )
    visible = shown and console.is_terminal
    with Progress(*columns, console=console, disable=not visible, transient=True) as bars:
        task = bars.add_task("grading", total=total)
        yield lambda done: bars.update(task, completed=done)


def waiting_for(what: str, shown: bool) -> AbstractContextManager[object]:
    """Show on a terminal's stderr what is being waited for, until the context ends."""
    console = Console(file=sys.stderr)
    return console.status(what) if shown and console.is_terminal else nullcontext()
