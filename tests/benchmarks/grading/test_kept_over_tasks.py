"""A Python worker of Spark keeps the processes of its runs from one task to the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from slotwise.benchmarks.grading.plan import RunLimits, make_plan
from slotwise.benchmarks.grading.sources import read_cases

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

TASKS = 6


@pytest.mark.spark
def test_tasks_of_a_python_worker_share_the_processes(spark: SparkSession) -> None:
    cases = read_cases(["rstorm"], 0, 1)
    runs = make_plan(cases, ["round-robin"], "auto", RunLimits(30.0, 1, 0, None))[1:]

    def do(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import os

        from slotwise.benchmarks.grading.children import supervisor

        for frame in frames:
            (row,) = supervisor.answers(runs)
            server = supervisor._KEPT[0]._server
            assert server is not None
            said = [os.getpid(), server._process.pid, row["status"]]
            yield frame.assign(worker=said[0], server=said[1], status=said[2])

    schema = "id long, worker long, server long, status string"
    asked = spark.range(0, TASKS, 1, TASKS)
    rows = [row for _ in range(2) for row in asked.mapInPandas(do, schema).collect()]
    assert {row.status for row in rows} == {"valid"}
    pairs = {(row.worker, row.server) for row in rows}
    assert len(pairs) == len({row.worker for row in rows}), "one server for each worker"
    assert len(pairs) < len(rows)
