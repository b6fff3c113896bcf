"""Frames of a few rows that the driver has. Spark knows their size, so that it can broadcast them.

Unlike those that it makes of Python's lists itself, for which it would sort and shuffle the other
side of a join.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField, StructType


def local_frame(spark: SparkSession, rows: Sequence[Sequence[object]], schema: str) -> DataFrame:
    """Return `rows` with the columns of `schema`, which is in Spark's notation."""
    names = [field.name for field in fields_of(schema)]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]
    return spark.createDataFrame(pa.table(dict(zip(names, columns, strict=True))), schema)


def fields_of(schema: str) -> list[StructField]:
    """Return the columns of a schema in Spark's notation; there must be a session."""
    from pyspark.sql.types import StructType

    return cast("StructType", StructType.fromDDL(schema)).fields


def arrow_schema(spark: SparkSession, schema: str) -> pa.Schema:
    """Return the schema as PyArrow's, for what tasks hand on."""
    return local_frame(spark, (), schema).toArrow().schema
