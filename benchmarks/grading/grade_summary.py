"""What a call of `grade` did, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.models.display import counted, html_line, html_table
from slotwise.models.frame import frame

if TYPE_CHECKING:
    from slotwise.models.frame import DataFrame


@dataclass(frozen=True, slots=True)
class GradeSummary:
    """What a grading did.

    Parameters
    ----------
    folder
        Where the rows are; text where that is not a folder of this machine (``hdfs://...``).
    instances, methods, engine
        What was graded.
    planned, skipped
        Number of runs asked for; of those that the folder held already.
    statuses
        Status -> number of rows, over all planned runs; ``rightly refused`` where the instance is
        proven infeasible, ``confirmed`` and ``not confirmed`` of cross-checks.
    seconds
        Wall-clock time, Spark's start included.
    """

    folder: Path | str
    instances: int
    methods: tuple[str, ...]
    engine: str
    planned: int
    skipped: int
    statuses: dict[str, int]
    seconds: float

    def __repr__(self) -> str:
        """One line: folder, instances, runs, how they ended."""
        ended = ", ".join(f"{status} {count:,}" for status, count in self.statuses.items())
        return (
            f"GradeSummary {self.folder}: {counted(self.instances, 'instance')}, "
            f"{counted(self.planned, 'run')}, "
            f"{self.skipped:,} of them skipped; {ended}"
        )

    def _repr_html_(self) -> str:
        rows = [(status, f"{count:,}") for status, count in self.statuses.items()]
        return html_line(repr(self)) + html_table(("status", "runs"), rows, len(rows))

    def to_frame(self) -> DataFrame:
        """Return how the runs ended as a pandas DataFrame: status and runs.

        The runs themselves are read by `slotwise.read_rows`.
        """
        return frame(("status", "runs"), self.statuses.items())

    def to_document(self) -> dict[str, Any]:
        """Return the summary as JSON-ready data."""
        return {
            "out": str(self.folder),
            "instances": self.instances,
            "methods": list(self.methods),
            "engine": self.engine,
            "planned": self.planned,
            "skipped": self.skipped,
            "run": self.planned - self.skipped,
            "statuses": self.statuses,
            "seconds": round(self.seconds, 3),
        }
