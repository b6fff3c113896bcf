"""Tables between two jobs as files, so that what follows is planned from these files alone.

With each step that is added, Spark analyses all of a frame's plan anew, and a frame that is
persisted keeps its plan: ten steps on ten steps take longer than their rows, and the plans fill the
driver's memory for as long as anything refers to them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Store = Callable[["DataFrame"], "DataFrame"]
"""Computes a frame and returns one with the same rows and a plan of one step."""


@contextmanager
def scratch(folder: Path) -> Iterator[Store]:
    """Give a function that keeps frames as Parquet in a folder; in the end the folder is removed.

    Parameters
    ----------
    folder
        One of its own, which this process and the executors see. What is in it, such as the files
        of a process that was killed, is lost.
    """
    numbers = count()

    def stored(frame: DataFrame) -> DataFrame:
        path = folder / str(next(numbers))
        frame.write.mode("overwrite").parquet(str(path))
        return frame.sparkSession.read.schema(frame.schema).parquet(literal(path))

    try:
        yield stored
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def literal(path: Path | str) -> str:
    """Return a path for Spark's readers, which take paths for patterns."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", str(path))
