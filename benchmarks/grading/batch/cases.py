"""The cases of a grading as a frame: addresses first, then the description of each.

A run's key has the hash of its instance, and that is known only when the instance is made. So
tasks make each instance of a family once and describe it; the descriptions (and the text, for
reports) stay in the folder as ``instances/*.parquet``, where the next call finds them by family,
index, seed and the version of what made them. Files are read by the driver, which checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import TYPE_CHECKING

from slotwise.benchmarks.grading.batch.local_frame import arrow_schema, local_frame
from slotwise.benchmarks.grading.environment import families_version
from slotwise.benchmarks.grading.sources import Case, CaseRange, Sources, family_case

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ADDRESS = ("family", "case_index")

DESCRIBED = (
    "instance_hash string, instance string, subject string, tasks int, nodes int, topologies int, "
    "tightness double"
)

KNOWN = f"family string, case_index int, case_seed long, made_by string, {DESCRIBED}"
"""What the folder keeps of each instance, but for the text."""

KEPT = f"{KNOWN}, text string"


def addresses(spark: SparkSession, sources: Sources) -> DataFrame:
    """Return the instances of families that are asked for: position, family, index."""
    from pyspark.sql import functions as fn

    ranges = [
        spark.range(part.count).select(
            fn.lit(position).alias("position"),
            fn.lit(part.family).alias("family"),
            fn.col("id").cast("int").alias("case_index"),
        )
        for position, part in enumerate(sources.parts)
        if isinstance(part, CaseRange)
    ]
    if not ranges:
        return local_frame(spark, (), "position int, family string, case_index int")
    return reduce(lambda one, other: one.union(other), ranges)


def read_files(spark: SparkSession, sources: Sources) -> DataFrame:
    """Return the cases that were read: position, then the columns of `KEPT`."""
    read = [
        (position, part.family, None, None, None, *_description(part), part.text)
        for position, part in enumerate(sources.parts)
        if isinstance(part, Case)
    ]
    return local_frame(spark, read, f"position int, {KEPT}")


def of_this_version(cases: DataFrame, seed: int) -> DataFrame:
    """Return the rows of instances that a family would generate again unchanged."""
    from pyspark.sql import functions as fn

    is_current = (fn.col("case_seed") == seed) & (fn.col("made_by") == families_version())
    return cases.where(is_current)


def unknown(requested: DataFrame, known_cases: DataFrame) -> DataFrame:
    """Return the addresses of `requested` that `known_cases` does not describe."""
    return requested.join(known_cases, list(ADDRESS), "left_anti").select(*ADDRESS)


def unkept(files: DataFrame, known_cases: DataFrame) -> DataFrame:
    """Return the cases of `files` whose texts the folder does not have, each once."""
    hashes = known_cases.where("case_index is null").select("instance_hash")
    lacking = files.join(hashes, "instance_hash", "left_anti").dropDuplicates(["instance_hash"])
    return lacking.select(*_names(KEPT))


def describe(spark: SparkSession, seed: int) -> Callable[[DataFrame], DataFrame]:
    """Return the step from addresses to `KEPT`: tasks make the instances."""
    made_by, schema = families_version(), arrow_schema(spark, KEPT)

    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            pairs = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            rows = [_kept_row(family, index, seed, made_by) for family, index in pairs]
            yield pa.RecordBatch.from_pylist(rows, schema)

    return lambda frame: frame.mapInArrow(step, KEPT)


def chosen(requested: DataFrame, known_cases: DataFrame, files: DataFrame) -> DataFrame:
    """Return all cases that are asked for, each instance once: as its first source names it."""
    from pyspark.sql import functions as fn

    generated = requested.join(known_cases.drop("case_seed", "made_by"), list(ADDRESS))
    columns = ["position", *ADDRESS, *_names(DESCRIBED)]
    every = generated.select(*columns).union(files.select(*columns))
    rest = [name for name in columns if name != "instance_hash"]
    first = fn.min(fn.struct(*rest)).alias("first")
    return every.groupBy("instance_hash").agg(first).select("instance_hash", "first.*")


def with_texts(runs: DataFrame, instances: DataFrame) -> DataFrame:
    """Return the runs with the texts of cases that were read; others are made from their index."""
    texts = instances.where("case_index is null").select("instance_hash", "text")
    return runs.join(texts.dropDuplicates(["instance_hash"]), "instance_hash", "left")


def _kept_row(family: str, index: int, seed: int, made_by: str) -> dict[str, object]:
    case = family_case(family, index, seed)
    values = (family, index, seed, made_by, *_description(case), case.text)
    return dict(zip(_names(KEPT), values, strict=True))


def _description(case: Case) -> tuple[object, ...]:
    return (
        *(case.hash, case.name, str(case.subject)),
        *(case.tasks, case.nodes, case.topologies, case.tightness),
    )


def _names(schema: str) -> list[str]:
    return [column.split()[0] for column in schema.split(", ")]
