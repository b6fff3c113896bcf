from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from grading_processes import (
    PLACE_ALL_ON_FIRST,
    executors,
    stable,
    start,
    tiny,
    wait_for_rows,
)

from slotwise.api.reporting import report
from slotwise.benchmarks.grade import grade
from slotwise.benchmarks.grading.command_text import kept_commands
from slotwise.benchmarks.grading.grade_summary import GradeSummary
from slotwise.benchmarks.grading.rows import COLUMNS, KEY
from slotwise.benchmarks.grading.store import Store
from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METHODS = ("round-robin", "r-storm")
COUNT = 2
RUNS = COUNT * (len(METHODS) + 1)
"""Of each instance, one by each method and the exact one."""


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("instances")
    for index in range(COUNT):
        (folder / f"{index}.json").write_text(json.dumps(tiny(index)), encoding="utf-8")
    return folder


def run(instances: Path, out: Path, methods: tuple[str, ...] = METHODS) -> GradeSummary:
    return grade([str(instances)], methods=methods, time_limit_s=20, out=out)


@pytest.fixture(scope="module")
def graded(spark: SparkSession, instances: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of a whole grading on two cores."""
    out = tmp_path_factory.mktemp("graded")
    summary = run(instances, out)
    assert (summary.planned, summary.skipped) == (RUNS, 0)
    return out


@pytest.mark.spark
def test_every_run_is_a_row(graded: Path) -> None:
    rows = Store(graded).rows()
    assert [tuple(row) for row in rows] == [COLUMNS] * RUNS
    exact = [row for row in rows if row["kind"] == "exact"]
    assert {row["status"] for row in exact} == {"optimal"}
    assert all(row["terms"][1]["value"] == row["terms"][1]["bound"] for row in exact)
    for row in rows:
        assert row["wall_s"] > 0
        assert row["peak_memory_mb"] > 1
        assert json.loads(row["versions"])["slotwise"]


@pytest.mark.spark
def test_second_call_runs_nothing(graded: Path, instances: Path) -> None:
    before = sorted((graded / "rows").iterdir())
    summary = run(instances, graded)
    assert (summary.planned, summary.skipped) == (RUNS, RUNS)
    assert sorted((graded / "rows").iterdir()) == before
    assert json.loads(json.dumps(summary.to_document()))["run"] == 0
    (command,) = kept_commands(graded)
    assert command.startswith(f"slotwise grade {instances.name} --methods ")


@pytest.mark.spark
def test_crashing_and_external_methods_are_graded_beside_ours(
    graded: Path, instances: Path, tmp_path: Path
) -> None:
    kill = tmp_path / "kill.py"
    kill.write_text(
        "import os, signal, subprocess, sys\nsys.stdin.read()\n"
        "child = subprocess.check_output(['ps', '-o', 'ppid=', '-p', str(os.getppid())])\n"
        "os.kill(int(child), signal.SIGKILL)\n",
        encoding="utf-8",
    )
    place = tmp_path / "place.py"
    place.write_text(PLACE_ALL_ON_FIRST, encoding="utf-8")
    crash, ours = f"cmd:{sys.executable} {kill}", f"cmd:{sys.executable} {place}"
    summary = run(instances, graded, methods=(*METHODS, crash, ours))
    assert summary.statuses["crashed"] == summary.instances
    assert summary.skipped == RUNS
    found = [row for row in Store(graded).rows() if row["method"] == ours]
    assert [row["status"] for row in found] == ["valid"] * COUNT


@pytest.mark.in_turn
@pytest.mark.slow
@pytest.mark.spark
def test_interrupted_grading_goes_on_and_gives_the_same_rows_on_one_core(
    graded: Path, instances: Path, tmp_path: Path
) -> None:
    process = start(instances, tmp_path, "local[1]", *METHODS)
    wait_for_rows(tmp_path, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said.decode()
    assert b"Traceback" not in said
    kept = Store(tmp_path).rows(KEY)
    assert 0 < len(kept) < RUNS
    summary = run(instances, tmp_path)
    assert summary.skipped == len(kept)
    ours = [row for row in Store(graded).rows() if row["method"] in ("auto", *METHODS)]
    assert stable(Store(tmp_path).rows()) == stable(ours)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ["r-strom"]}, "r-storm"),
        ({"engine": "cpsat"}, "cp-sat"),
        ({"time_limit_s": 0}, "above 0"),
        ({"time_limit_s": float("nan")}, "above 0"),
        ({"seed": -1}, "0 or more"),
        ({"count": 0}, "1 or more"),
        ({"sources": ["rstrom"]}, "rstorm"),
        ({"sources": ["no-such-file.json"]}, "neither a family nor a file"),
    ],
)
def test_bad_input_is_refused_before_spark_starts(
    arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_session(master: str) -> None:
        pytest.fail("Spark was started")

    monkeypatch.setattr("slotwise.pipeline.spark.session.spark_session", no_session)
    sources = arguments.pop("sources", ["rstorm"])
    with pytest.raises(InputError, match=message) as caught:
        grade(sources, **{"out": tmp_path / "out", **arguments})
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.spark
@pytest.mark.deep
def test_two_executors_give_the_same_rows_though_one_is_killed(
    graded: Path, instances: Path, tmp_path: Path
) -> None:
    process = start(instances, tmp_path, "local-cluster[2,1,1024]", *METHODS)
    wait_for_rows(tmp_path, process)
    os.kill(next(executors(process.pid)), signal.SIGKILL)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 0, said.decode()
    ours = [row for row in Store(graded).rows() if row["method"] in ("auto", *METHODS)]
    assert stable(Store(tmp_path).rows()) == stable(ours)


def too_big() -> dict[str, Any]:
    document = tiny(0)
    document["topologies"][0]["components"][0]["resources"]["onheap_mb"] = 3000
    return {**document, "name": "too-big"}


@pytest.mark.spark
def test_a_right_refusal_is_told_from_a_broken_command(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(tiny(0)), encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps(too_big()), encoding="utf-8")
    refuse = tmp_path / "refuse.py"
    refuse.write_text('print(\'{"refused": "no"}\')', encoding="utf-8")
    refusing, broken = f"cmd:{sys.executable} {refuse}", f"cmd:{sys.executable} -c 1/0"
    sources = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    summary = grade(sources, methods=[refusing, broken], time_limit_s=20, out=tmp_path / "out")
    assert summary.statuses == {
        "crashed": 2,
        "infeasible": 1,
        "optimal": 1,
        "refused": 1,
        "rightly refused": 1,
    }
    page = report(tmp_path / "out").read_text(encoding="utf-8")
    assert "rightly refuses 1)" in page
    assert "<span>rightly refused</span>" in page
    failed = page.partition('<h2 id="failures">')[2].partition('<h2 id="instances">')[0]
    assert failed.count("ZeroDivisionError") == 2
    assert failed.count("refused: no") == 1
