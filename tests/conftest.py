"""Profiles of Hypothesis and the fixtures that all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
DEEP = os.environ.get("SLOTWISE_DEEP") == "1"

# Every run of the default profile tries the same cases; the deep one looks for new ones.
settings.register_profile("default", derandomize=True, max_examples=60, deadline=None)
settings.register_profile(
    "deep",
    max_examples=1000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deep" if DEEP else "default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what takes minutes, unless it was asked for."""
    if DEEP:
        return
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason="deep: run by make test-deep"))


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the project's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference material beside the project (or SLOTWISE_SHARED)."""
    folder = Path(os.environ.get("SLOTWISE_SHARED", ROOT.parent / "shared"))
    if folder.is_dir():
        return folder
    reason = f"no reference material in {folder}; SLOTWISE_SHARED can name another folder"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Start one local Spark session for all tests.

    Functions that run on the workers must be defined inside a test or in slotwise: workers cannot
    import the test modules.
    """
    from slotwise.benchmarks.spark_session import spark_session

    session = spark_session("local[2]", "slotwise-tests")
    yield session
    session.stop()
