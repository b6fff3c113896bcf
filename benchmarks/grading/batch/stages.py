"""What runs after what: each stage takes its runs from the plan when those before it are done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the plan that runs by itself.

    Parameters
    ----------
    runs
        Plan -> its runs that belong to this stage.
    known
        (runs without a row, plan, rows) -> these runs, or those of them that can run, with what
        rows of earlier stages say: the columns ``hint``, ``hint_from`` and ``against`` of
        `PlannedRun`. ``None`` = they need nothing.
    then
        (session, folder, plan, rows) -> what is done when the stage has run; an error ends the
        batch.
    """

    runs: Callable[[DataFrame], DataFrame]
    known: Callable[[DataFrame, DataFrame, DataFrame], DataFrame] | None = None
    then: Callable[[SparkSession, str, DataFrame, DataFrame], None] | None = None
