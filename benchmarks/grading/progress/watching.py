"""What the driver calls while a grading runs: counts, display and log together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from slotwise.benchmarks.grading.progress.display import Display, display
from slotwise.benchmarks.grading.progress.run_log import FORMAT, RunLog, run_log
from slotwise.benchmarks.grading.progress.tally import Tally
from slotwise.benchmarks.grading.rows import Row
from slotwise.models.errors import one_line


class Watcher:
    """Told of everything that happens in one call of `grade`; its context is the call."""

    def __init__(
        self,
        grading: Mapping[str, Any],
        shown: Display,
        log: RunLog,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._grading = grading
        self._shown = shown
        self._log = log
        self._clock = clock
        self._tally = Tally(clock)

    def __enter__(self) -> Watcher:
        self._log.write("started", {"format": FORMAT, **self._grading})
        return self

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """Show what is being waited for, until the context ends."""
        self._shown.waiting(what)
        yield

    def begin(self, to_run: Mapping[str, int], slots: int) -> None:
        """Say that more runs start: `Kind` -> how many, and how many run at a time."""
        if not self._tally.total:
            self._tally = Tally(self._clock)
        self._tally.expect(to_run, slots)
        self._log.write("running", {"runs": sum(to_run.values()), "slots": slots})
        self.tick()

    def ended(self, rows: Sequence[Row]) -> None:
        """Say which runs have ended; the rows have the columns of `run_log.LOGGED` at least."""
        if rows:
            self._log.runs(rows)
            self._tally.take(rows)
            self.tick()

    def tick(self) -> None:
        """Show that time passes; to be called a few times a second."""
        self._shown.show(self._tally)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tally = self._tally
        if tally.total:
            self._shown.end(tally)
        self._log.write(
            "finished",
            {
                "outcome": _outcome(error),
                "error": None if error is None else one_line(str(error)),
                "runs": tally.done,
                "statuses": dict(sorted(tally.statuses.items())),
                "seconds": round(tally.seconds, 3),
            },
        )


def _outcome(error: BaseException | None) -> str:
    if error is None:
        return "done"
    return "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"


@contextmanager
def watching(grading: Mapping[str, Any], log: Path | None, shown: bool) -> Iterator[Watcher]:
    """Give a watcher for one call.

    Parameters
    ----------
    grading
        What is graded, for the first event of the log: JSON-ready data.
    log
        File that the events are appended to; ``None`` = none.
    shown
        Whether stderr shows the progress.

    Raises
    ------
    InputError
        When the log cannot be written to.
    """
    with (
        run_log(log) as events,
        display(shown, time.monotonic) as shows,
        Watcher(grading, shows, events) as watcher,
    ):
        yield watcher
