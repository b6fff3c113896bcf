"""The kinds of Spark's masters, and the settings that each needs.

Importing this module starts nothing.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from slotwise.models.errors import InputError
from slotwise.pipeline.spark.java import find_java

_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*(\d+)\s*\]")

_LOCAL_THREADS = re.compile(r"local(?:\[(\*|[1-9]\d*)(?:,\s*([1-9]\d*))?\])?")

MASTER = re.compile(
    rf"{_LOCAL_THREADS.pattern}"
    rf"|{_LOCAL_CLUSTER.pattern}|spark://\S+|yarn|k8s://\S+"
    r"|sc://[^\s/:;]+(:\d+)?(/\S*)?"
)

TRIES = 4
"""How often a task of ``local[N]`` may fail before its job does, as on clusters; Spark's default is
once, so that one killed worker would end a whole grading."""

LEAST_MB = 512
"""Least memory of an executor of ``local-cluster``: Spark refuses less than about 450 MB."""

UNPACKED = "environment"
"""The folder of an executor that an archive of `pack` is unpacked into."""

PACKED_PYTHON = f"./{UNPACKED}/bin/python"
"""The Python of an unpacked archive, as executors name it."""

DRIVER_MEMORY, MEMORY_ASKED = "spark.driver.memory", "SPARK_DRIVER_MEMORY"
"""Spark's setting, and its environment variable, which has precedence over our choice."""

_ALL_COMPILED = "-XX:-DontCompileHugeMethods"
"""Java's option to compile also methods of more than 8,000 bytes of code. Of all that is computed
of a row Spark makes one method; Java would interpret that of a line of logs."""

SHORT_LIVED = {
    "spark.driver.defaultJavaOptions": f"{_ALL_COMPILED} -XX:TieredStopAtLevel=1 "
    "-XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
}
"""Settings of a local master whose jobs take a minute or two: without Java's optimising compiler,
which pays off later, and with room for all that the other one makes."""

INTERPRETED = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
}
"""Settings for a few thousand rows: Spark interprets its plans, as generating and compiling code
for them would take longer."""

THROUGHPUT = {"spark.driver.defaultJavaOptions": f"{_ALL_COMPILED} -XX:+UseParallelGC"}
"""Settings of a local master whose jobs take minutes: Java's garbage collector of the highest
throughput. Its default is made for short pauses, which cost CPU time."""

HADOOP_FOLDERS = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Environment variables of which YARN needs one: the folder of ``yarn-site.xml``."""

CONNECT_PORT = 15002
"""Port of a server of Spark Connect whose address has none."""

_SQL = {
    # Adaptive execution would merge partitions of one row, and one row is one long solve.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Spark's inference from conditions grows exponentially with columns derived from columns: it
    # took 12 s to plan the judging of a handful of lines.
    "spark.sql.constraintPropagation.enabled": "false",
}

_EVERYWHERE = {
    **_SQL,
    # Else Python notes the line of ours at which each column and step was made, for Spark's errors.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A measurement has 300 pieces of generated code. Spark keeps 100, and would compile all of them
    # again for the next batch of a stream.
    "spark.sql.codegen.cache.maxEntries": "2000",
    # The history of finished work: Spark keeps a thousand plans by default, and some of ours are
    # large. A job that follows a cluster for days would fill the driver's memory with them.
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    # Else workers take a folder named slotwise in the user's current folder for this package.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    # A long solve looks like an idle worker.
    "spark.python.worker.killOnIdleTimeout": "false",
}

_CLUSTER = {"spark.log.level": "ERROR"}

_LOCAL = {
    "spark.driver.defaultJavaOptions": _ALL_COMPILED,
    "spark.executor.defaultJavaOptions": _ALL_COMPILED,  # of ``local-cluster``
    "spark.ui.enabled": "false",
    # Else Spark describes each plan at length, in many megabytes, for a page that is not served.
    "spark.sql.maxPlanStringLength": "2000",
    "spark.sql.ui.explainMode": "simple",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where Spark runs, and its settings.

    Parameters
    ----------
    master
        ``local[*]``, ``local-cluster[2,2,1024]``, ``spark://...``, ``yarn``, ``k8s://...``, or
        ``sc://...`` for Spark Connect.
    archive
        File of `pack` with the executors' Python; ``None`` = the Python installed there.
    conf
        Spark's settings, which override ours; Spark Connect accepts those that can change at
        runtime.
    jars
        Files of Java classes that Spark loads besides its own, for example a connector.
    """

    master: str = "local[*]"
    archive: Path | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    jars: Sequence[str] = ()

    def check(self) -> None:
        """Raise `InputError` for impossible combinations, before anything starts.

        Raises
        ------
        InputError
            Naming the argument and the rule.
        """
        check_master(self.master)
        if self.archive is None:
            return
        if runs_here(self.master):
            rule = f"is for other machines; {self.master} runs this Python"
            raise InputError(rule, field="archive", value=str(self.archive))
        if not self.archive.is_file():
            rule = "is not a file; make it with slotwise pack"
            raise InputError(rule, field="archive", value=str(self.archive))


def check_master(master: str) -> None:
    """Raise `InputError` unless `master` is the address of a Spark master.

    Raises
    ------
    InputError
        With the possible forms, or the least memory of an executor.
    """
    if not MASTER.fullmatch(master):
        rule = (
            "must be local, local[N], local[*], local-cluster[N,CORES,MB], spark://HOST:PORT, "
            "yarn, k8s://URL or sc://HOST:PORT"
        )
        raise InputError(rule, field="master", value=master)
    if is_connect(master):
        try:
            host, port = connect_address(master)
            host.encode("idna")
        except ValueError:
            port = 0
        if not port:
            rule = "must be sc://HOST:PORT with the name of a host and a port from 1 to 65535"
            raise InputError(rule, field="master", value=master)
    memory = _executor_mb(master)
    if memory is not None and memory < LEAST_MB:
        rule = f"must give each executor {LEAST_MB} MB or more"
        raise InputError(rule, field="master", value=master)


def with_tries(master: str) -> str:
    """Return the master for Spark: ``local[N]`` with `TRIES`, unless it has its own."""
    match = _LOCAL_THREADS.fullmatch(master)
    if match is None or match[2] is not None:
        return master
    return f"local[{match[1] or 1},{TRIES}]"


def is_local(master: str) -> bool:
    """Return whether driver and executors all run on this machine."""
    return runs_here(master) or _executor_mb(master) is not None


def runs_here(master: str) -> bool:
    """Return whether driver and executors are one process."""
    return master == "local" or master.startswith("local[")


def is_connect(master: str) -> bool:
    """Return whether the master is a server of Spark Connect."""
    return master.startswith("sc://")


def connect_address(master: str) -> tuple[str, int]:
    """Return host and port of a server of Spark Connect."""
    url = urlsplit(master)
    return url.hostname or "", CONNECT_PORT if url.port is None else url.port


def environment(cluster: Cluster) -> Mapping[str, str]:
    """Return the environment variables that Spark needs in this process.

    Raises
    ------
    InputError
        If nothing says where YARN is.
    SlotwiseError
        If no suitable Java is found; Spark Connect needs none here.
    """
    if is_connect(cluster.master):
        return {}
    if cluster.master == "yarn" and not any(os.environ.get(name) for name in HADOOP_FOLDERS):
        rule = f"needs the folder of Hadoop's settings: set {HADOOP_FOLDERS[0]}"
        raise InputError(rule, field="master", value=cluster.master)
    variables = {"JAVA_HOME": str(find_java().home)}
    if is_local(cluster.master):
        # Else workers start whatever python is on the path, and Spark looks up the host's name.
        variables |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    if cluster.archive is not None:
        variables["PYSPARK_PYTHON"] = PACKED_PYTHON
    return variables


def settings(cluster: Cluster) -> Mapping[str, str]:
    """Return the Spark configuration for a master; clusters keep their administrator's settings."""
    return {**_ours(cluster), **_shipped(cluster), **cluster.conf}


def _ours(cluster: Cluster) -> Mapping[str, str]:
    if is_connect(cluster.master):
        return _SQL
    if not is_local(cluster.master):
        return {**_EVERYWHERE, **_CLUSTER}
    folder = Path(tempfile.mkdtemp(prefix="slotwise-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    warehouse = {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    # With local[N] driver and executors are one process, for which Spark's own default is 1 GB: too
    # little for the plans of one measurement after another.
    memory = {DRIVER_MEMORY: os.environ.get(MEMORY_ASKED, "2g")}
    executor_mb = _executor_mb(cluster.master)
    if executor_mb is not None:
        # Spark would wait forever for a worker with the 1 GB that its executors want by default.
        memory["spark.executor.memory"] = f"{executor_mb}m"
    return {**_EVERYWHERE, **_LOCAL, **_quiet(folder), **warehouse, **memory}


def _shipped(cluster: Cluster) -> Mapping[str, str]:
    """Return the settings that bring jars and archive to the executors."""
    settings = {"spark.jars": ",".join(cluster.jars)} if cluster.jars else {}
    if cluster.archive is None:
        return settings
    if is_connect(cluster.master):
        return {**settings, "spark.sql.execution.pyspark.python": PACKED_PYTHON}
    return {**settings, "spark.archives": f"{cluster.archive.resolve()}#{UNPACKED}"}


def _executor_mb(master: str) -> int | None:
    """Return the memory of an executor of ``local-cluster``; ``None`` for other masters."""
    match = _LOCAL_CLUSTER.fullmatch(master)
    return None if match is None else int(match[1])


# Errors that Spark logs it also raises as exceptions, or Java ends with a code that says why
# (`session.how_java_ended`). Spark announces a change of level, unless the gateway's own logger has
# the root's level already.
_LOG4J = """\
rootLogger.level = off
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = off
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
