"""The rows that appear in a folder while a grading runs, whoever writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pyarrow.parquet as pq

from slotwise.benchmarks.grading.progress.run_log import LOGGED
from slotwise.benchmarks.grading.rows import Row


class NewRows:
    """Reads each file of rows once, as soon as it is there.

    Files must appear whole, under names that do not begin with a point or an underscore; those that
    are there now are of earlier calls.

    Parameters
    ----------
    folder
        Of files of rows, on this machine or mounted; it may appear later.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = {path.name for path in self._files()}

    def take(self) -> list[Row]:
        """Return what has appeared since the last call: the columns of `LOGGED`."""
        found: list[Row] = []
        for path in self._files():
            if path.name not in self._seen:
                self._seen.add(path.name)
                rows = pq.read_table(path, columns=list(LOGGED)).to_pylist()
                found += cast("list[Row]", rows)
        return found

    def _files(self) -> Iterator[Path]:
        every = self._folder.glob("*.parquet")
        yield from sorted(path for path in every if path.name[0] not in "._")
