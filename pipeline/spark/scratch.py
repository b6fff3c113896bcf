"""Storing tables between two jobs as files, so that later steps are planned from the files alone.

With each step that is added, Spark analyses all of a frame's plan again, and a frame that is
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
from uuid import uuid4

from slotwise.pipeline.spark.paths import literal, local_address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Store = Callable[["DataFrame"], "DataFrame"]
"""Computes a frame and returns one with the same rows and a plan of one step."""

_NAME = re.compile(r"scratch-[0-9a-f]{32}")


@contextmanager
def scratch(folder: Path) -> Iterator[Store]:
    """Yield a function that stores frames as Parquet; at the end they are removed.

    Parameters
    ----------
    folder
        Where they get a folder with a unique name; visible to this process and the executors.
    """
    mine = folder / f"scratch-{uuid4().hex}"
    numbers = count()

    def stored(frame: DataFrame) -> DataFrame:
        path = mine / str(next(numbers))
        frame.write.parquet(local_address(path))
        return frame.sparkSession.read.schema(frame.schema).parquet(literal(path))

    try:
        yield stored
    finally:
        shutil.rmtree(mine, ignore_errors=True)


def remove_scratch(folder: Path) -> None:
    """Remove the tables that killed processes have left in a folder."""
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)
