"""How the Java that runs Spark ended, for errors: Python just finds its connection refused."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence

from slotwise.pipeline.spark.masters import DRIVER_MEMORY, MEMORY_ASKED

OUT_OF_MEMORY = 52
"""The exit code by which Spark says that its heap was full."""

MORE_MEMORY = f"give it more, for example {MEMORY_ASKED}=4g"
"""What helps when Java's own memory is full."""

END_S = 5.0
"""Seconds that Java may take to end, once it answers no more."""


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

    PySpark does not expect that its Java ends: it would call the old one for ever.
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
