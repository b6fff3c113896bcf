"""The session: what each master gets, and that one row stays one task."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slotwise.benchmarks.spark import session as module
from slotwise.benchmarks.spark.java import Java
from slotwise.benchmarks.spark.session import environment, is_local, settings, spark_session

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

LOCAL = ("local", "local[*]", "local[2]", "local[2,3]", "local-cluster[2,2,1024]")
REMOTE = ("spark://host:7077", "yarn", "k8s://https://host:443", "spark://local[2]")


@pytest.fixture
def some_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_java", lambda: Java(Path("/jdk"), (17,), "PATH"))


@pytest.mark.parametrize("master", LOCAL)
def test_local_masters(master: str, some_java: None) -> None:
    assert is_local(master)
    assert environment(master)["PYSPARK_PYTHON"] == sys.executable
    assert environment(master)["JAVA_HOME"] == "/jdk"
    chosen = settings(master)
    assert chosen["spark.driver.bindAddress"] == "127.0.0.1"
    assert chosen["spark.ui.enabled"] == "false"
    assert Path(chosen["spark.sql.warehouse.dir"]).parent.is_dir()


@pytest.mark.parametrize("asked", [None, "5g"])
def test_the_memory_of_a_local_master(
    asked: str | None, some_java: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_DRIVER_MEMORY", raising=False)
    if asked:
        monkeypatch.setenv("SPARK_DRIVER_MEMORY", asked)
    assert settings("local[2]")["spark.driver.memory"] == (asked or "2g")


@pytest.mark.parametrize("master", REMOTE)
def test_clusters_keep_their_own_settings(master: str, some_java: None) -> None:
    assert not is_local(master)
    assert environment(master) == {"JAVA_HOME": "/jdk"}
    chosen = settings(master)
    assert not any(key.startswith("spark.driver") for key in chosen)
    assert "spark.sql.warehouse.dir" not in chosen


@pytest.mark.parametrize("master", [*LOCAL, *REMOTE])
def test_rows_are_never_merged_and_stdout_stays_clean(master: str) -> None:
    chosen = settings(master)
    assert chosen["spark.sql.adaptive.enabled"] == "false"
    assert chosen["spark.ui.showConsoleProgress"] == "false"


@pytest.mark.spark
def test_one_row_per_task(spark: SparkSession) -> None:
    def count(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        yield pd.DataFrame({"rows": [sum(len(frame) for frame in frames)]})

    rows = spark.range(0, 6, 1, 1).repartitionByRange(6, "id")
    assert [row.rows for row in rows.mapInPandas(count, "rows long").collect()] == [1] * 6


@pytest.mark.spark
def test_workers_run_this_python_and_see_slotwise(spark: SparkSession) -> None:
    def describe(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import sys

        import slotwise

        for frame in frames:
            yield frame.assign(python=sys.executable, version=slotwise.__version__)

    import slotwise

    frame = spark.range(0, 1, 1, 1).mapInPandas(describe, "id long, python string, version string")
    assert [tuple(row) for row in frame.collect()] == [(0, sys.executable, slotwise.__version__)]


@pytest.mark.spark
def test_active_session_is_returned_as_it_is(spark: SparkSession) -> None:
    assert spark_session("local[1]", "another") is spark
    assert spark.conf.get("spark.app.name") == "slotwise-tests"
    assert spark.conf.get("spark.master") == "local[2]"


@pytest.mark.spark
def test_bad_master_is_our_error() -> None:
    script = """
from slotwise.benchmarks.spark.session import spark_session
from slotwise.models.errors import SlotwiseError
try:
    spark_session("local[many]")
except SlotwiseError as error:
    print(error)
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Spark did not start on local[many]: ")
    assert done.stdout.count("\n") == 1
