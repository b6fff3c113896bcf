"""Which vectors and strategies a test runs on: a module imports `pytest_generate_tests`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ras_vectors import Vector, read_vector

HERE = Path(__file__).parent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on the vectors that it is for, and on the strategies that they name."""
    wanted = metafunc.definition.get_closest_marker("vectors_with")
    found = [
        one
        for one in _vectors(metafunc.config)
        if wanted is None or any(key in one.given or key in one.expected for key in wanted.args)
    ]
    if "strategy" in metafunc.fixturenames:
        cases = [
            pytest.param(vector, strategy, id=f"{vector.name}-{strategy}")
            for vector in found
            for strategy in vector.strategies
        ]
        metafunc.parametrize(("vector", "strategy"), cases)
    else:
        metafunc.parametrize("vector", [pytest.param(one, id=one.name) for one in found])


def _vectors(config: pytest.Config) -> list[Vector]:
    shared = Path(os.environ.get("SLOTWISE_SHARED", HERE.parents[1] / "shared"))
    folders = [shared / "storm" / "vectors", HERE / "vectors", *config.getoption("--vectors")]
    files = [path for folder in folders for path in sorted(Path(folder).glob("*.json"))]
    return [read_vector(path) for path in files]
