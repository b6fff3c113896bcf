"""The core must import without the solvers, Spark and the plotting library."""

import json
import subprocess
import sys

import pytest

HEAVY = ("ortools", "pyspark", "pandas", "matplotlib", "pulp", "highspy", "numba")

LIST_LOADED = """
import json, sys
{imports}
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""


def loaded_after(imports: str) -> set[str]:
    """Return the top-level modules of a fresh interpreter after the given imports."""
    command = [sys.executable, "-c", LIST_LOADED.format(imports=imports)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_core_loads_nothing_heavy() -> None:
    loaded = loaded_after("import slotwise, slotwise.models")
    assert "slotwise" in loaded
    assert sorted(loaded.intersection(HEAVY)) == []


@pytest.mark.parametrize(
    "module", ["slotwise.pipeline.spark.java", "slotwise.pipeline.spark.session"]
)
def test_spark_is_imported_by_the_session_only(module: str) -> None:
    assert "pyspark" not in loaded_after(f"import {module}")


def test_a_heavy_import_would_be_seen() -> None:
    assert "highspy" in loaded_after("import highspy")


@pytest.mark.slow
def test_engines_load_compiled_loops_only_to_run_them() -> None:
    assert "numba" not in loaded_after(
        "import slotwise.solver.engines, slotwise.solver.portfolio.auto"
    )


@pytest.mark.parametrize("module", ["results", "rebalanced"])
def test_what_shows_a_result_loads_no_engine(module: str) -> None:
    """`judge` took twice the time when its table brought the whole solver with it."""
    loaded = loaded_after(f"import slotwise.cli.render.{module}")
    assert sorted(loaded.intersection(HEAVY)) == []
