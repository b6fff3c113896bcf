"""The lines of new files, parsed and written; files that cannot be read are left out by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from slotwise.models.errors import SlotwiseError
from slotwise.pipeline.spark.paths import literal
from slotwise.pipeline.spark.session import job_errors
from slotwise.pipeline.statistics import manifest as files
from slotwise.pipeline.statistics.json_lines import json_samples
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.schema import PARSED, UNREADABLE, names, struct
from slotwise.pipeline.statistics.storm_lines import storm_samples
from slotwise.pipeline.statistics.unreadable import unreadable

Write = Callable[[DataFrame], None]


def write_lines(
    spark: SparkSession, paths: Collection[str], reading: Reading, write: Write
) -> None:
    """Hand `PARSED` of some files to `write`, kind by kind.

    A file that cannot be decompressed has one row, with the fault as its line.
    """
    storm = [path for path in paths if files.is_storm(Path(path).name)]
    json = [path for path in paths if files.is_json(Path(path).name)]
    for of_kind, parser in ((storm, storm_samples), (json, json_samples)):
        if not of_kind:
            continue
        try:
            with job_errors():
                write(parser(raw_lines(spark, of_kind), reading))
        except SlotwiseError:
            faults = unreadable(of_kind)
            if not faults:
                raise
            readable = [path for path in of_kind if path not in faults]
            if readable:
                write(parser(raw_lines(spark, readable), reading))
            write(of_unreadable(spark, faults, reading))


def raw_lines(spark: SparkSession, paths: Collection[str]) -> DataFrame:
    """Give `RAW` of some files."""
    text = spark.read.text([literal(path) for path in paths])
    return text.select(fn.col("value").alias("line"), fn.col("_metadata.file_path").alias("path"))


def of_unreadable(spark: SparkSession, faults: Mapping[str, str], reading: Reading) -> DataFrame:
    """Give `PARSED` of files that cannot be read: a row for each, with its fault for a line."""
    rows = [
        {"topology": reading.topology, "path": Path(path).as_uri(), "at": 0}
        | {"reason": UNREADABLE, "line": f"{path}: {fault}"}
        for path, fault in faults.items()
    ]
    columns = names(PARSED)
    return spark.createDataFrame(
        [tuple(row.get(one) for one in columns) for row in rows], struct(PARSED)
    )
