"""What runs after what: each stage takes its runs from the plan when those before it are done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the plan that runs by itself.

    Parameters
    ----------
    name
        For people.
    runs
        (plan, rows that stand) -> the plan's runs that belong to this stage.
    """

    name: str
    runs: Callable[[DataFrame, DataFrame], DataFrame]


STAGES = (Stage("runs", lambda plan, standing: plan),)
"""All runs at once: no run needs another's row."""
