"""Servers as processes of this machine: a standalone cluster of Spark, Spark Connect, and YARN.

For experiments and tests: what a cluster does that a local master does not shows on them.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

from slotwise.models.errors import SlotwiseError
from slotwise.pipeline.spark.java import find_java
from slotwise.pipeline.spark.masters import SHORT_LIVED
from slotwise.processes.ending import end_process
from slotwise.processes.pipes import last_words

HOST = "127.0.0.1"

FETCHED = Path(__file__).resolve().parents[3] / "tests" / "yarn"
"""The folder whose ``target/jars`` are fetched."""
HADOOP = FETCHED / "target" / "jars"

READY_S = 120.0
"""Seconds for a server to take connections."""

END_S = 20.0
"""Seconds for a server to end before it is killed."""

_DEPLOY = "org.apache.spark.deploy"

_SHORT = SHORT_LIVED["spark.driver.defaultJavaOptions"]

_ON_YARN = {
    # Else each session uploads Spark, which is on all of these nodes, and unpacks it on each.
    "spark.yarn.jars": "local:{home}/jars/*",
    "spark.yarn.am.extraJavaOptions": _SHORT,
    "spark.executor.defaultJavaOptions": _SHORT,
    **SHORT_LIVED,
}


@contextmanager
def standalone(folder: Path, workers: int = 2, memory_mb: int = 1200) -> Iterator[str]:
    """Run a standalone master and `workers` workers of one core each; give the master's address.

    Logs and what executors unpack go into `folder`.

    Raises
    ------
    SlotwiseError
        When the master does not start.
    """
    port = _free_port()
    address = f"spark://{HOST}:{port}"
    with ExitStack() as stack:
        where = ("--host", HOST, "--port", str(port), "--webui-port", "0")
        stack.enter_context(_server(folder / "master.log", f"{_DEPLOY}.master.Master", *where))
        _wait_for(port, folder / "master.log")
        for number in range(workers):
            size = ("--cores", "1", "--memory", f"{memory_mb}m", "--webui-port", "0")
            place = ("--host", HOST, "--work-dir", str(folder / f"worker-{number}"))
            log = folder / f"worker-{number}.log"
            program = f"{_DEPLOY}.worker.Worker"
            stack.enter_context(_server(log, program, *size, *place, address))
        yield address


@contextmanager
def connect_server(folder: Path, master: str = "local[2]") -> Iterator[str]:
    """Run a server of Spark Connect on `master`; give its address, ``sc://...``.

    Raises
    ------
    SlotwiseError
        When it does not start.
    """
    port = _free_port()
    program = "org.apache.spark.sql.connect.service.SparkConnectServer"
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.driver.host": HOST,
    }
    chosen = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
    words = ("--class", program, "--master", master, *chosen, "spark-internal")
    with _server(folder / "connect.log", f"{_DEPLOY}.SparkSubmit", *words):
        _wait_for(port, folder / "connect.log")
        yield f"sc://{HOST}:{port}"


@contextmanager
def yarn(folder: Path, nodes: int = 2) -> Iterator[Mapping[str, str]]:
    """Run Hadoop's small cluster: YARN of `nodes` nodes of 4 GB, and HDFS.

    Gives the environment variables with which ``--master yarn`` finds it, with those settings of
    Spark that ``SPARK_CONF_DIR`` has. ``make yarn`` fetches Hadoop with Maven.

    Raises
    ------
    SlotwiseError
        When it has not been fetched, or does not start.
    """
    if not HADOOP.is_dir():
        raise SlotwiseError(f"{HADOOP}: Hadoop has not been fetched: make yarn")
    settings = folder / "conf"
    settings.mkdir()
    (settings / "spark-defaults.conf").write_text(_defaults(_ON_YARN), encoding="utf-8")
    java = [str(find_java().home / "bin" / "java"), "-Xmx512m", *_SHORT.split()]
    command = [*java, "-cp", f"{HADOOP}/*", str(FETCHED / "Yarn.java"), str(settings), str(nodes)]
    with (folder / "yarn.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=folder,
            env=_environment(),
            start_new_session=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if process.stdout.readline() != b"ready\n":
            log_end = last_words((folder / "yarn.log").read_bytes())
            raise SlotwiseError(f"YARN did not start{log_end}")
        yield {
            "HADOOP_CONF_DIR": str(settings),
            "SPARK_CONF_DIR": str(settings),
            "SPARK_LOCAL_IP": HOST,
        }
    finally:
        end_process(process, END_S, process.stdin.close)


def _defaults(settings: Mapping[str, str]) -> str:
    """Return the text of ``spark-defaults.conf``, with these settings over those that hold here."""
    here = Path(os.environ.get("SPARK_CONF_DIR", _spark_home() / "conf"), "spark-defaults.conf")
    before = here.read_text(encoding="utf-8") if here.is_file() else ""
    lines = [f"{key} {value.format(home=_spark_home())}\n" for key, value in settings.items()]
    return "".join([before, "\n", *lines])


@contextmanager
def _server(log: Path, program: str, *words: str) -> Iterator[None]:
    """Run one of Spark's classes in a process group of its own, which ends with the context."""
    command = [str(_spark_home() / "bin" / "spark-class"), program, *words]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=log.parent,
            env=_environment(),
            start_new_session=True,
        )
    try:
        yield
    finally:
        end_process(process, END_S)


def _environment() -> Mapping[str, str]:
    """Return variables by which executors run this Python and find what it imports."""
    return {
        **os.environ,
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(_spark_home()),
        "SPARK_LOCAL_IP": HOST,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONSAFEPATH": "1",
    }


def _spark_home() -> Path:
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise SlotwiseError("PySpark is not installed")
    return Path(spec.origin).parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection((HOST, port), 1.0).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise SlotwiseError(f"nothing answers on port {port} after {READY_S:.0f} s; its log: {log}")
