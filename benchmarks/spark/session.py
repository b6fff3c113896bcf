"""The one place where a Spark session is made.

Spark and Java are looked for inside the function: importing this module starts nothing.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from slotwise.benchmarks.spark.java import find_java
from slotwise.models.errors import InputError, SlotwiseError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = re.compile(
    r"local(\[(\*|[1-9]\d*)(,\s*[1-9]\d*)?\])?"
    r"|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|spark://\S+|yarn|k8s://\S+"
)

_EVERYWHERE = {
    # Adaptive execution would merge partitions of one row, and one row is one long solve.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    # What Spark remembers of finished work: by default a thousand plans, and some of ours are
    # large. A job that follows a cluster for days would fill the driver's memory with them.
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    # Else workers take a folder called slotwise, where the user happens to be, for this package.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
}

_CLUSTER = {"spark.log.level": "ERROR"}

_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


def spark_session(
    master: str = "local[*]", app: str = "slotwise", jars: Sequence[str] = ()
) -> SparkSession:
    """Return a quiet Spark session on any master.

    Sets ``JAVA_HOME`` of this process, and for a local master ``PYSPARK_PYTHON``, so that Java is
    found and the workers see our modules. Nothing is printed on stdout.

    Parameters
    ----------
    master
        ``local[*]``, ``local-cluster[2,2,1024]``, ``spark://...``, ``yarn``, ``k8s://...``.
    app
        Name that the cluster shows.
    jars
        Files of Java classes that Spark loads besides its own, for example a connector.

    Returns
    -------
    SparkSession
        A new one; if this process has an active session already, that one, unchanged: Spark
        allows one per process. Stop only what you started.

    Raises
    ------
    SlotwiseError
        If no suitable Java is found, or Spark does not start.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    os.environ.update(environment(master))
    builder = SparkSession.builder.appName(app).master(master)
    for key, value in settings(master).items():
        builder = builder.config(key, value)
    if jars:
        builder = builder.config("spark.jars", ",".join(jars))
    try:
        with _own_interrupts():
            return builder.getOrCreate()
    except (PySparkException, Py4JError) as error:
        reason = getattr(error, "java_exception", error)
        raise SlotwiseError(f"Spark did not start on {master}: {reason}") from error


@contextmanager
def session(
    master: str, starting: AbstractContextManager[object], jars: Sequence[str] = ()
) -> Iterator[SparkSession]:
    """Give the active session, or a new one with `jars` that is stopped in the end.

    `starting` is entered only while a new one starts; it shows that to whoever waits.
    """
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    with starting:
        spark = spark_session(master, jars=jars)
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def job_errors() -> Iterator[None]:
    """Raise what makes a Spark job fail as a `SlotwiseError` of one line."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        reason = str(error).strip().splitlines()[0]
        raise SlotwiseError(f"the Spark job failed: {reason}") from error


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Put Ctrl-C off while Spark starts, and take it back from Spark afterwards.

    PySpark would call the JVM from its own handler, in the middle of another call, which ends in
    tracebacks instead of an interrupt.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def check_master(master: str) -> None:
    """Refuse what is no address of a Spark master, before anything starts.

    Raises
    ------
    InputError
        Naming the forms there are.
    """
    if not MASTER.fullmatch(master):
        rule = (
            "must be local, local[N], local[*], local-cluster[N,CORES,MB], spark://HOST:PORT, "
            "yarn or k8s://URL"
        )
        raise InputError(rule, field="master", value=master)


def is_local(master: str) -> bool:
    """Say whether driver and executors all run on this machine."""
    return master == "local" or master.startswith(("local[", "local-cluster["))


def environment(master: str) -> Mapping[str, str]:
    """Give the environment variables that Spark needs in this process.

    Raises
    ------
    SlotwiseError
        If no suitable Java is found.
    """
    variables = {"JAVA_HOME": str(find_java().home)}
    if is_local(master):
        # Else workers start whatever python is on the path, and Spark looks up the host's name.
        variables |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return variables


def settings(master: str) -> Mapping[str, str]:
    """Give the Spark configuration for a master; clusters keep what their administrator set."""
    if not is_local(master):
        return {**_EVERYWHERE, **_CLUSTER}
    folder = Path(tempfile.mkdtemp(prefix="slotwise-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    warehouse = {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    # Driver and executors are one process here, for which Spark's own default is 1 GB.
    memory = {"spark.driver.memory": os.environ.get("SPARK_DRIVER_MEMORY", "2g")}
    return {**_EVERYWHERE, **_LOCAL, **_quiet(folder), **warehouse, **memory}


# Spark announces a change of level, unless the gateway's own logger has the root's level already.
_LOG4J = """\
rootLogger.level = error
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""


def _quiet(folder: Path) -> Mapping[str, str]:
    """Configure log4j from the start: Spark's own level applies only after its first warnings."""
    path = folder / "log4j2.properties"
    path.write_text(_LOG4J, encoding="utf-8")
    return {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file://{path}"}
