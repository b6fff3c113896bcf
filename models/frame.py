"""Rows as a pandas DataFrame; pandas is loaded when the first one is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

    __all__ = ["DataFrame", "frame"]


def frame(columns: Sequence[str], rows: Iterable[tuple[object, ...]]) -> DataFrame:
    """Return the rows as a DataFrame; it has its columns also where there are no rows."""
    from pandas import DataFrame

    return DataFrame.from_records(list(rows), columns=list(columns))
