"""The parsed lines that the stream has kept so far: Parquet files, each line exactly once.

Spark's file sink writes the files of a batch under names of their own and then, in one atomic
step, their list into the log ``_spark_metadata``. A batch that is repeated after a crash is in the
list already and writes nothing, or is not, and its earlier files are never read. What is read here
is the list up to one batch: the answer is a function of that batch, whatever is written meanwhile.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from slotwise.models.errors import SlotwiseError
from slotwise.pipeline.spark.paths import literal
from slotwise.pipeline.statistics.schema import PARSED, struct

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOG = "_spark_metadata"
DAY = "day"
"""The column by which the lines are in folders."""
_NO_DAY = "__HIVE_DEFAULT_PARTITION__"
_COMPACT = ".compact"
_VERSION = "v1"


@dataclass(frozen=True, slots=True)
class Kept:
    """The files of all batches up to one.

    Parameters
    ----------
    folder
        Of the sink.
    batch
        The last batch; -1 = there is none yet.
    files
        Their paths in the folder, in the order in which they were kept.
    """

    folder: Path
    batch: int
    files: tuple[str, ...]

    def by_day(self) -> dict[date, tuple[str, ...]]:
        """Return the files by the day of the node's clock; lines without a time are in none."""
        found: dict[date, list[str]] = defaultdict(list)
        for path in self.files:
            day = path.partition("/")[0].removeprefix(f"{DAY}=")
            if day != _NO_DAY:
                found[date.fromisoformat(day)].append(path)
        return {day: tuple(paths) for day, paths in sorted(found.items())}

    def parsed(self, spark: SparkSession, files: Sequence[str] | None = None) -> DataFrame:
        """Return `PARSED` of some of these files, one or more; ``None`` = all."""
        reader = spark.read.schema(struct(PARSED)).option("basePath", str(self.folder))
        paths = self.files if files is None else files
        return reader.parquet(*(literal(self.folder / path) for path in paths))


def last_batch(folder: Path) -> int:
    """Return the last batch that the sink in `folder` has kept; -1 = none yet."""
    return max((number for number, _ in _logged(folder)), default=-1)


def kept_lines(folder: Path) -> Kept:
    """Return what the sink in `folder` has kept so far.

    Raises
    ------
    SlotwiseError
        When its log is not of the version that we know.
    """
    logged = sorted(_logged(folder), key=lambda entry: (entry[0], _COMPACT in entry[1].name))
    start = max((at for at, (_, path) in enumerate(logged) if _COMPACT in path.name), default=0)
    files: dict[str, None] = {}
    for _, path in logged[start:]:
        files.update(dict.fromkeys(_added(path)))
    return Kept(folder, logged[-1][0] if logged else -1, tuple(files))


def _logged(folder: Path) -> list[tuple[int, Path]]:
    """Return the entries of the log: number of the batch, file; others are Spark's own."""
    log = folder / LOG
    if not log.is_dir():
        return []
    numbered = [(path.name.removesuffix(_COMPACT), path) for path in log.iterdir()]
    return [(int(number), path) for number, path in numbered if number.isdecimal()]


def _added(path: Path) -> list[str]:
    version, *entries = path.read_text("utf-8").splitlines()
    if version != _VERSION:
        raise SlotwiseError(f"{path}: version {version!r} of Spark's log is not known")
    read = [json.loads(entry) for entry in entries]
    if any(entry["action"] != "add" for entry in read):
        raise SlotwiseError(f"{path}: Spark's log removes files, which this program never asks for")
    # As in the folder, which may have been moved, and without the escapes of a URL.
    return [unquote("/".join(entry["path"].rsplit("/", 2)[1:])) for entry in read]
