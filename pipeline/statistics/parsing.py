"""Lines of both kinds, mixed as in a folder or a stream, as samples."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from slotwise.pipeline.statistics.json_lines import json_samples
from slotwise.pipeline.statistics.reading import Reading
from slotwise.pipeline.statistics.storm_lines import storm_samples


def parse_lines(raw: DataFrame, reading: Reading) -> DataFrame:
    """Give `PARSED` from `RAW`, line by line: no row depends on another one.

    Where the kind of each file is known, `storm_samples` or `json_samples` alone do the same and
    read the files once.
    """
    kind = is_json()
    storm = storm_samples(raw.where(~kind), reading)
    return storm.unionByName(json_samples(raw.where(kind), reading))


def is_json() -> Column:
    """Say whether a line is JSON.

    The name of its file tells, by ``.jsonl`` or ``.metrics``; else that it begins with a brace.
    """
    name, line = fn.substring_index("path", "/", -1), fn.col("line")
    tells = name.contains(".metrics")
    return name.contains(".jsonl") | (~tells & fn.ltrim(line).startswith("{"))
