"""The family of decoded Storm clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli
from small_storm_cluster import SMALL

from slotwise.benchmarks.grading.plan import RunLimits, make_plan
from slotwise.benchmarks.grading.run import Loader, outcome
from slotwise.benchmarks.grading.sources import read_cases
from slotwise.models.errors import InputError
from slotwise.models.families.storm import VARIABLE, storm_instances


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    path = tmp_path / "small.json"
    path.write_text(json.dumps(SMALL))
    return path


def test_each_topology_alone_then_all_together(cluster: Path) -> None:
    made = list(storm_instances(f"storm:{cluster}"))
    with_tasks = [
        t["id"] for t in SMALL["topologies"] if sum(c["executors"] for c in t["components"])
    ]
    assert [one.name for one in made] == [
        *(f"small-{key}" for key in with_tasks),
        "small-together",
    ]
    assert [len(one.topologies) for one in made] == [1] * len(with_tasks) + [
        len(SMALL["topologies"])
    ]
    assert made[0].objective.terms == ("overload", "network")
    assert made[-1].objective.terms == ("rejected", "overload", "network")
    assert {one.scheduler.worker_min_cpu for one in made} == {0}


def test_a_folder_or_the_environment_names_the_files(
    cluster: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [one.name for one in storm_instances(f"storm:{cluster.parent}")]
    monkeypatch.setenv(VARIABLE, str(cluster))
    assert [one.name for one in storm_instances("storm")] == names


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("storm", "family = 'storm': reads files: name a decoded Storm cluster"),
        ("storm:", "reads files: name a decoded Storm cluster"),
        ("storm:nowhere.json", "family storm = 'nowhere.json': does not exist"),
        ("storm:empty", "family storm = 'empty': has no *.json files"),
        ("storm:other.json", "other.json: must be a decoded Storm cluster"),
    ],
)
def test_absent_files_are_said_in_one_line(
    source: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InputError):
        list(storm_instances(source))
    answer = cli("grade", source)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_grading_takes_the_texts_along(cluster: Path) -> None:
    """Files of this machine are not on the executors, so runs carry their instance."""
    cases = read_cases([f"storm:{cluster}"], seed=0, count=1)
    assert [(case.family, case.index) for case in cases] == [("storm", None)]
    cluster.unlink()
    plan = make_plan(cases, ["round-robin"], "exhaustive", RunLimits(5.0, 1, 0, None))
    rows = [outcome(run, Loader()) for run in plan]
    assert [row["status"] for row in rows] == ["infeasible", "broken rule"]


def test_it_is_listed_and_not_among_all_families(cli: Cli) -> None:
    listed = cli("families", "--json").json["families"]
    assert (listed[-1]["name"], listed[-1]["count"]) == ("storm", None)
    assert "storm" in cli("families").out
    assert all(case.family != "storm" for case in read_cases([], seed=0, count=1))
