"""Creating Spark sessions, which is done only here.

Spark and Java are looked for inside the function: importing this module starts nothing.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import subprocess
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from slotwise.models.errors import InputError, SlotwiseError
from slotwise.pipeline.spark.masters import (
    DRIVER_MEMORY,
    MEMORY_ASKED,
    UNPACKED,
    Cluster,
    connect_address,
    environment,
    is_connect,
    settings,
    with_tries,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CONDITION = re.compile(r"\[[A-Z][A-Z_.]+\] .*")
"""An error condition of Spark, and its text."""

DAMAGED = re.compile(
    r"\[FAILED_READ_FILE\.(?:NO_HINT|CANNOT_READ_FILE_FOOTER)\] "
    r"Encountered error while reading file (\S+?)\.(?=\s|$)"
)
"""Spark's mention of a file of unexpected content, by its URL."""

IS_DAMAGED = "is damaged, it cannot be read; remove it, or put a whole copy in its place"

IN_PYTHON = "An exception was thrown from the Python worker:"
"""Spark's line before the traceback of Python on an executor."""

DISK_FULL = "No space left on device"
"""The system's error, at the end of Spark's chain of causes."""

CONNECT_S = 10.0
"""Seconds for a server of Spark Connect to answer; Spark itself tries for minutes."""


def spark_session(where: str | Cluster = "local[*]", app: str = "slotwise") -> SparkSession:
    """Return a quiet Spark session on any master.

    Sets ``JAVA_HOME`` of this process, and for a local master ``PYSPARK_PYTHON``, so that Java is
    found and the workers see our modules. Nothing is printed on stdout.

    Parameters
    ----------
    where
        The master, or a `Cluster` with further settings.
    app
        Name shown by the cluster.

    Returns
    -------
    SparkSession
        A new one, or, if this process has an active session, that one, unchanged: Spark allows one
        per process. Stop it only if you started it.

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
    cluster = Cluster(where) if isinstance(where, str) else where
    os.environ.update(environment(cluster))
    builder = SparkSession.builder.appName(app)
    for key, value in settings(cluster).items():
        builder = builder.config(key, value)
    try:
        with _own_interrupts():
            if is_connect(cluster.master):
                return _connected(builder, cluster)
            return builder.master(with_tries(cluster.master)).getOrCreate()
    except (PySparkException, Py4JError) as error:
        *_, reason = map(str, _causes(getattr(error, "java_exception", error)))
        raise SlotwiseError(f"Spark did not start on {cluster.master}: {reason}") from error


def _causes(error: Any) -> Iterator[Any]:
    """Yield an exception of Java, or of Python, and those that led to it, the first one last."""
    while error is not None:
        yield error
        error = getattr(error, "getCause", lambda: None)()


def _connected(builder: SparkSession.Builder, cluster: Cluster) -> SparkSession:
    """Return a session of a server of Spark Connect, with the archive if there is one."""
    if find_spec("grpc") is None:
        raise SlotwiseError(
            "Spark Connect needs packages that are not installed: pip install 'slotwise[cluster]'"
        )
    host, port = connect_address(cluster.master)
    try:
        socket.create_connection((host, port), CONNECT_S).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SlotwiseError(
            f"no Spark Connect server answers at {host}:{port} ({reason})"
        ) from error
    with warnings.catch_warnings():
        # A session that the server has already keeps its own.
        warnings.filterwarnings("ignore", message="Failed to set spark.app.name")
        spark = builder.remote(cluster.master).getOrCreate()
    if cluster.archive is not None:
        spark.addArtifact(f"{cluster.archive.resolve()}#{UNPACKED}", archive=True)
    return spark


@contextmanager
def session(
    where: str | Cluster, starting: AbstractContextManager[object]
) -> Iterator[SparkSession]:
    """Yield the active session, or a new one that is stopped at the end.

    `starting` is a context manager that is entered while a new one starts, to show that. Failures
    of Spark are raised as by `job_errors`.
    """
    from pyspark.sql import SparkSession

    with job_errors():
        active = SparkSession.getActiveSession()
        if active is not None:
            yield active
            return
        with starting:
            spark = spark_session(where)
        root = logging.getLogger()
        root.addFilter(_is_worth_logging)
        try:
            yield spark
        finally:
            if how_java_ended(0) is None:
                spark.stop()
            root.removeFilter(_is_worth_logging)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Filter the traceback that Py4J logs on Ctrl-C, which it also raises."""
    return record.msg != "KeyboardInterrupt while sending command."


@contextmanager
def job_errors() -> Iterator[None]:
    """Raise the failure of a Spark job as a `SlotwiseError` of one line.

    A file that Spark cannot read is an `InputError` with its name. Where Java itself has ended, the
    error says how and what to do; the next session starts a new one.
    """
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
        if _is_of_interrupt(error):
            raise KeyboardInterrupt from error
        is_answer = isinstance(error, Py4JJavaError | PySparkException)
        ended = how_java_ended(0 if is_answer else END_S)
        if ended is not None:
            forget_java()
            raise SlotwiseError(ended) from error
        if not isinstance(error, Py4JError | PySparkException):
            raise
        reason = reason_of(error)
        if damaged := DAMAGED.match(reason):
            path = unquote(re.sub("^file:/+", "/", damaged[1]))
            raise InputError(IS_DAMAGED, file=path, has_value=False) from error
        raise SlotwiseError(f"the Spark job failed: {reason}") from error


def _is_of_interrupt(error: BaseException | None) -> bool:
    """Say whether an error came while Ctrl-C was handled, which breaks connections to Java."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def reason_of(error: Exception) -> str:
    """Return one line of Spark's error: its error condition, such as an unreadable file.

    Without a condition, the first line, of a traceback the last one; for lack of disk or memory,
    with a remedy.
    """
    thrown = getattr(error, "java_exception", error)
    text = str(thrown).strip()
    named = next(filter(None, (CONDITION.search(str(one)) for one in _causes(thrown))), None)
    if named:
        reason = named[0].strip()
    elif text.startswith(IN_PYTHON):
        reason = f"Python of an executor: {text.splitlines()[-1]}"
    else:
        reason = text.partition("\n")[0]
    if DISK_FULL in str(getattr(error, "_stackTrace", error)):
        return f"no space is left on the disk: free some and run it again ({reason})"
    return f"{reason}; {MORE_MEMORY}" if "OutOfMemoryError" in reason else reason


@contextmanager
def _own_interrupts() -> Iterator[None]:
    """Defer Ctrl-C while Spark starts, and restore our handler afterwards.

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


@contextmanager
def configured(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session for the jobs that are started within the block."""
    before = {key: spark.conf.get(key, None) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def aggregated_once(spark: SparkSession) -> AbstractContextManager[None]:
    """Let aggregates wait for the shuffle: for keys of which a partition has each once or twice.

    By default Spark aggregates each partition before the shuffle as well, also where the rows need
    no shuffle. Spark before 4.3 has no other way, and ignores this.
    """
    return configured(spark, {"spark.sql.execution.bypassPartialAggregation": "true"})


def tasks_done() -> tuple[int, int] | None:
    """Return the numbers of finished tasks and of all tasks in Spark's active stages.

    For showing progress from another thread; ``None`` = there are none, or it is unknown, as with
    Spark Connect.
    """
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None or getattr(context, "_jsc", None) is None:  # it is starting, or has ended
        return None
    try:
        tracker = context.statusTracker()
        stages = [tracker.getStageInfo(one) for one in tracker.getActiveStageIds()]
    except (Py4JError, OSError):  # Java has ended meanwhile; its job says how
        return None
    known = [one for one in stages if one is not None]
    if not known:
        return None
    return sum(one.numCompletedTasks for one in known), sum(one.numTasks for one in known)


OUT_OF_MEMORY = 52
"""The exit code of Spark when its heap was full."""

MORE_MEMORY = f"give it more, for example {MEMORY_ASKED}=4g"
"""The remedy when Java's own memory is full."""

END_S = 5.0
"""Seconds that Java may take to end after it stopped answering."""


def how_java_ended(wait_s: float) -> str | None:
    """Return how the Java of this process's Spark ended and what to do, in one line.

    ``None`` = it still runs after `wait_s` seconds, or there is none, as with Spark Connect.
    """
    from pyspark import SparkContext

    process = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return None
    try:
        code = process.wait(wait_s)
    except subprocess.TimeoutExpired:
        return None
    return f"Java, which runs Spark, {_ended(code, _memory(process.args))}"


def forget_java() -> None:
    """Let the next session start a Java of its own, as if this process had had none.

    PySpark does not expect its Java to end: it would call the old one for ever.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _ended(code: int, memory: str) -> str:
    if code == OUT_OF_MEMORY:
        return f"ran out of its memory ({memory}): {MORE_MEMORY}"
    if code == -signal.SIGKILL:
        return (
            "was killed, as systems do that run out of memory: free some, or give Java less than "
            f"{memory} with {MEMORY_ASKED}"
        )
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}: run the command again"
    return f"ended with exit code {code}: run the command again"


def _memory(command: Sequence[str]) -> str:
    """Return the memory that Java was started with, as Spark's settings write it."""
    named = [word.partition("=")[2] for word in command if word.startswith(f"{DRIVER_MEMORY}=")]
    return named[-1] if named else "Spark's default"
