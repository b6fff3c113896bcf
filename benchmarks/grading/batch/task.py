"""What a Spark task does: runs in, rows out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from slotwise.benchmarks.grading.batch.local_frame import arrow_schema
from slotwise.benchmarks.grading.plan import PlannedRun, Setting
from slotwise.benchmarks.grading.rows import COLUMNS, SCHEMA, Row
from slotwise.benchmarks.grading.sources import Case

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

FROM_STAGES = ("hint", "hint_from", "against")
"""Parts of a run that its stage finds out."""

BLOCK = 200
"""Rows that a task hands on at a time."""


def graded(
    spark: SparkSession, settings: Sequence[Setting], batch: str
) -> Callable[[DataFrame], DataFrame]:
    """Return the step from runs, their texts included, to rows of the call `batch`."""
    shipped = tuple(settings)
    schema = arrow_schema(spark, SCHEMA)

    def step(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for some in batches:
            runs = [_run(document, shipped) for document in some.to_pylist()]
            rows = _rows(runs, batch)
            while block := list(islice(rows, BLOCK)):
                yield pa.RecordBatch.from_pylist(block, schema)

    return lambda frame: frame.mapInArrow(step, SCHEMA)


def _run(document: dict[str, Any], settings: Sequence[Setting]) -> PlannedRun:
    case = Case(
        family=document["family"],
        index=document["case_index"],
        text=document["text"] or "",
        hash=document["instance_hash"],
        name=document["instance"],
        tasks=document["tasks"],
        nodes=document["nodes"],
        topologies=document["topologies"],
        tightness=document["tightness"],
        subject=document["subject"],
    )
    from_stages = {name: document[name] for name in FROM_STAGES if name in document}
    setting: Setting = settings[document["setting"]]
    return replace(setting.run(case), **from_stages)


def _rows(runs: Sequence[PlannedRun], batch: str) -> Iterator[Row]:
    from slotwise.benchmarks.grading.children.supervisor import answers

    blank = cast(Row, dict.fromkeys(COLUMNS))
    for run, answer in zip(runs, answers(runs), strict=True):
        yield {**blank, **run.columns(), **answer, "batch": batch}
