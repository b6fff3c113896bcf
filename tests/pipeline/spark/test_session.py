"""The session: what each master gets, and that one row stays one task."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from slotwise.models.errors import InputError, SlotwiseError
from slotwise.pipeline.spark import masters as module
from slotwise.pipeline.spark.java import Java
from slotwise.pipeline.spark.masters import (
    LEAST_MB,
    PACKED_PYTHON,
    TRIES,
    Cluster,
    check_master,
    connect_address,
    environment,
    is_local,
    settings,
    with_tries,
)
from slotwise.pipeline.spark.session import (
    _is_worth_logging,
    job_errors,
    reason_of,
    spark_session,
    tasks_done,
)

if TYPE_CHECKING:
    import pandas as pd

LOCAL = ("local", "local[*]", "local[2]", "local[2,3]", "local-cluster[2,2,1024]")
REMOTE = ("spark://host:7077", "yarn", "k8s://https://host:443", "spark://local[2]")


@pytest.fixture
def some_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_java", lambda: Java(Path("/jdk"), (17,), "PATH"))
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop/conf")


@pytest.mark.parametrize("master", LOCAL)
def test_local_masters(master: str, some_java: None) -> None:
    assert is_local(master)
    assert environment(Cluster(master))["PYSPARK_PYTHON"] == sys.executable
    assert environment(Cluster(master))["JAVA_HOME"] == "/jdk"
    chosen = settings(Cluster(master))
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
    assert settings(Cluster("local[2]"))["spark.driver.memory"] == (asked or "2g")


@pytest.mark.parametrize("master", REMOTE)
def test_clusters_keep_their_own_settings(master: str, some_java: None) -> None:
    assert not is_local(master)
    assert environment(Cluster(master)) == {"JAVA_HOME": "/jdk"}
    chosen = settings(Cluster(master))
    assert not any(key.startswith("spark.driver") for key in chosen)
    assert "spark.sql.warehouse.dir" not in chosen


def test_yarn_without_its_settings(some_java: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR")
    with pytest.raises(InputError, match="set HADOOP_CONF_DIR"):
        environment(Cluster("yarn"))
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/hadoop/conf")
    environment(Cluster("yarn"))


def test_a_session_that_starts_has_no_tasks_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    # PySpark announces a context before it is there, which on YARN takes half a minute.
    starting = SparkContext.__new__(SparkContext)
    monkeypatch.setattr(SparkContext, "_active_spark_context", starting)
    assert tasks_done() is None


@pytest.mark.parametrize(
    ("master", "given"),
    [
        ("local", "local[1,4]"),
        ("local[1]", "local[1,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2, 1]", "local[2, 1]"),
        ("local-cluster[2,1,1024]", "local-cluster[2,1,1024]"),
        ("yarn", "yarn"),
    ],
)
def test_tasks_of_a_local_master_are_tried_again(master: str, given: str) -> None:
    assert with_tries(master) == given


@pytest.mark.parametrize(
    ("master", "address"),
    [
        ("sc://host", ("host", 15002)),
        ("sc://10.0.0.1:99", ("10.0.0.1", 99)),
        ("sc://host:443/;use_ssl=true;token=x", ("host", 443)),
    ],
)
def test_spark_connect(
    master: str, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_master(master)
    assert connect_address(master) == address
    monkeypatch.setattr(module, "find_java", lambda: pytest.fail("it needs no Java"))
    assert environment(Cluster(master)) == {}
    # A session can set only what can change while the server runs.
    assert all(key.startswith("spark.sql.") for key in settings(Cluster(master)))


@pytest.mark.parametrize(
    "master",
    [
        *("sc://", "sc:/host", "sc://host:port", "sc://ho st"),
        *("sc://host:0", "sc://host:99999", "sc://a..b"),
    ],
)
def test_no_address_of_spark_connect(master: str) -> None:
    with pytest.raises(InputError, match="sc://HOST:PORT"):
        check_master(master)


def test_executors_of_a_local_cluster_get_its_memory(some_java: None) -> None:
    assert settings(Cluster("local-cluster[2,1,700]"))["spark.executor.memory"] == "700m"
    assert "spark.executor.memory" not in settings(Cluster("local[2]"))
    with pytest.raises(InputError, match=f"must give each executor {LEAST_MB} MB or more"):
        check_master(f"local-cluster[2,1,{LEAST_MB - 1}]")


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "local-cluster[2,1,1024]"])
def test_an_archive_brings_the_python(master: str, some_java: None, tmp_path: Path) -> None:
    archive = tmp_path / "env.tar.gz"
    archive.touch()
    cluster = Cluster(master, archive)
    cluster.check()
    assert settings(cluster)["spark.archives"] == f"{archive}#environment"
    assert environment(cluster)["PYSPARK_PYTHON"] == PACKED_PYTHON


def test_spark_connect_takes_the_python_of_an_archive(tmp_path: Path) -> None:
    chosen = settings(Cluster("sc://host", tmp_path / "env.tar.gz"))
    assert chosen["spark.sql.execution.pyspark.python"] == PACKED_PYTHON
    assert "spark.archives" not in chosen


def test_an_archive_that_nobody_needs_or_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is for other machines"):
        Cluster("local[2]", tmp_path).check()
    with pytest.raises(InputError, match="make it with slotwise pack"):
        Cluster("yarn", tmp_path / "env.tar.gz").check()


def test_what_is_set_goes_over_ours(some_java: None) -> None:
    conf = {"spark.sql.adaptive.enabled": "true", "spark.task.cpus": "2"}
    chosen = settings(Cluster("yarn", conf=conf))
    assert chosen.items() >= conf.items()
    assert chosen["spark.python.worker.killOnIdleTimeout"] == "false"


def test_jars_are_given_to_spark(some_java: None) -> None:
    chosen = settings(Cluster("local[1]", jars=["a.jar", "b.jar"]))
    assert chosen["spark.jars"] == "a.jar,b.jar"


def test_a_server_that_is_not_there_is_found_out_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotwise.pipeline.spark.session.find_spec", lambda name: object())
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(SlotwiseError, match=f"no Spark Connect server answers at {address}"):
            spark_session(f"sc://{address}")


def test_spark_connect_without_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotwise.pipeline.spark.session.find_spec", lambda name: None)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    with pytest.raises(SlotwiseError, match=r"pip install 'slotwise\[cluster\]'"):
        spark_session("sc://host")


@pytest.mark.parametrize("master", [*LOCAL, *REMOTE])
def test_rows_are_never_merged_and_stdout_stays_clean(master: str) -> None:
    chosen = settings(Cluster(master))
    assert chosen["spark.sql.adaptive.enabled"] == "false"
    assert chosen["spark.ui.showConsoleProgress"] == "false"


def test_py4j_says_nothing_of_ctrl_c(caplog: pytest.LogCaptureFixture) -> None:
    root = logging.getLogger()
    root.addFilter(_is_worth_logging)
    try:
        logging.error("KeyboardInterrupt while sending command.")
        logging.error("something else")
    finally:
        root.removeFilter(_is_worth_logging)
    assert [one.message for one in caplog.records] == ["something else"]


class ThrownError(Py4JError):
    """An exception of Java."""

    def __init__(self, text: str, cause: ThrownError | None = None) -> None:
        super().__init__(text)
        self.cause = cause

    def getCause(self) -> ThrownError | None:  # noqa: N802 - Java's name
        return self.cause


def test_ctrl_c_is_no_failed_job_where_the_connection_to_java_breaks() -> None:
    def interrupted() -> None:
        try:
            raise KeyboardInterrupt
        finally:
            raise Py4JError("Answer from Java side is empty")

    with pytest.raises(KeyboardInterrupt), job_errors():
        interrupted()


def test_a_failed_job_names_the_condition_that_led_to_it() -> None:
    condition = "[FAILED_READ_FILE.NO_HINT] Encountered error while reading file file:///a.parquet."
    error = ThrownError("Exception thrown in awaitResult: ", ThrownError(condition))
    assert reason_of(error) == condition
    assert reason_of(ThrownError("no condition", ThrownError("nor here"))) == "no condition"


def test_a_failed_start_names_its_first_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(builder: object) -> None:
        raise ThrownError("the scheduler cannot be made", ThrownError("no class"))

    monkeypatch.setattr("slotwise.pipeline.spark.session.environment", lambda cluster: {})
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", fail)
    with pytest.raises(SlotwiseError, match=r"^Spark did not start on yarn: no class$"):
        spark_session("yarn")


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
def test_a_killed_worker_is_tried_again(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    flag = str(tmp_path / "killed")

    def once(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import os
        import signal
        from pathlib import Path

        yield from frames
        if not Path(flag).exists():
            Path(flag).touch()
            os.kill(os.getpid(), signal.SIGKILL)

    rows = spark.range(0, 3, 1, 1).mapInPandas(once, "id long").collect()
    assert [row.id for row in rows] == [0, 1, 2]
    assert Path(flag).exists()
    assert "ERROR" not in capfd.readouterr().err


@pytest.mark.spark
def test_a_full_disk_is_one_line(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    def full(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import errno
        import os

        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    said = "no space is left on the disk: free some"
    with pytest.raises(SlotwiseError, match=said) as raised, job_errors():
        spark.range(1).mapInPandas(full, "id long").collect()
    assert "\n" not in str(raised.value)
    assert "ERROR" not in capfd.readouterr().err


@pytest.mark.spark
def test_an_error_of_python_names_it(spark: SparkSession) -> None:
    def imports(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import lacking  # type: ignore[import-not-found]

        yield lacking

    said = "Python of an executor: ModuleNotFoundError: No module named 'lacking'"
    with pytest.raises(SlotwiseError, match=said), job_errors():
        spark.range(1).mapInPandas(imports, "id long").collect()


@pytest.mark.spark
def test_active_session_is_returned_as_it_is(spark: SparkSession) -> None:
    assert spark_session("local[1]", "another") is spark
    assert spark.conf.get("spark.app.name") == "slotwise-tests"
    assert spark.conf.get("spark.master") == f"local[2,{TRIES}]"


@pytest.mark.spark
def test_bad_master_is_our_error() -> None:
    script = """
from slotwise.pipeline.spark.session import spark_session
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
