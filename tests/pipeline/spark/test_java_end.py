"""Errors of a Spark whose Java has ended: they say how, and what to change."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

from slotwise.models.errors import SlotwiseError
from slotwise.pipeline.spark.session import how_java_ended, job_errors

ENDS = {
    "kill -KILL $$": r"was killed, .*give Java less than 3g with SPARK_DRIVER_MEMORY",
    "exit 52": r"ran out of its memory \(3g\): give it more, for example SPARK_DRIVER_MEMORY=4g",
    "kill -TERM $$": "was ended by SIGTERM",
    "exit 1": "ended with exit code 1",
}


def pretend(monkeypatch: pytest.MonkeyPatch, script: str) -> subprocess.Popen[bytes]:
    """Let a shell be the Java of this process's Spark; what is there comes back with the test."""
    java = subprocess.Popen(["sh", "-c", script, "--conf", "spark.driver.memory=3g"])
    monkeypatch.setattr(SparkContext, "_gateway", SimpleNamespace(proc=java))
    for name in ("_jvm", "_active_spark_context"):
        monkeypatch.setattr(SparkContext, name, None)
    for name in ("_instantiatedSession", "_activeSession"):
        monkeypatch.setattr(SparkSession, name, None)
    return java


@pytest.mark.parametrize(("script", "said"), ENDS.items())
def test_how_it_ended(script: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, script)
    with pytest.raises(SlotwiseError, match=f"^Java, which runs Spark, {said}"), job_errors():
        raise ConnectionRefusedError(111, "Connection refused")
    assert SparkContext._gateway is None, "the next session needs a Java of its own"


def test_another_connection_is_none_of_its_business(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slotwise.pipeline.spark.session.END_S", 0.0)
    with pretend(monkeypatch, "exec sleep 60") as java:
        with pytest.raises(ConnectionRefusedError), job_errors():
            raise ConnectionRefusedError(111, "Connection refused")
        java.kill()
    monkeypatch.setattr(SparkContext, "_gateway", None)
    assert how_java_ended(0) is None
