"""Matrix files: published optima are what the judge gives their solutions."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from slotwise.models.errors import InputError
from slotwise.models.importers.matrix_assignment import published_optimum
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_from_data, instance_hash, read_instance
from slotwise.models.judge.judge import judge

SMALL: dict[str, Any] = {
    "format": "matrix-assignment",
    "name": "small",
    "source": "made by hand",
    "weights": [[1, 2], [3, 0.5], [1, 1]],
    "capacities": [[4, 9], [9, 3]],
    "flow": [[0, 1, 5], [1, 0, 2], [0, 1, 0.5], [2, 2, 7]],
    "distance": [[1, 10], [4, 0]],
    "linear": [[0, 1], [2, 0], [0, 0]],
    "optimum": None,
    "optimum_status": "unknown",
    "solution": None,
}


def cost(nodes: tuple[int, ...], document: dict[str, Any] = SMALL) -> Fraction:
    verdict = judge(instance_from_data(document), Placement(nodes, (0,) * len(nodes)))
    return verdict.objective[0].value


def by_hand(nodes: tuple[int, ...], document: dict[str, Any] = SMALL) -> Fraction:
    total = Fraction(0)
    for i, j, weight in document["flow"]:
        total += Fraction(str(weight)) * document["distance"][nodes[i]][nodes[j]]
    for i, row in enumerate(document["linear"] or ()):
        total += row[nodes[i]]
    return total


@pytest.mark.parametrize("nodes", [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
def test_each_listed_pair_is_paid_once(nodes: tuple[int, int, int]) -> None:
    assert cost(nodes) == by_hand(nodes)


def test_without_linear_costs() -> None:
    document = {**SMALL, "linear": None}
    assert cost((0, 1, 1), document) == by_hand((0, 1, 1), document)


def test_capacities_are_hard_in_every_dimension() -> None:
    instance = instance_from_data(SMALL)
    verdict = judge(instance, Placement((0, 0, 0), (0, 0, 0)))
    assert [(v.rule, v.place, v.subject) for v in verdict.violations] == [
        ("capacity", "node n0", "w0")
    ]
    verdict = judge(instance, Placement((1, 1, 1), (0, 0, 0)))
    assert [v.subject for v in verdict.violations] == ["w1"]


def test_workers_cost_nothing() -> None:
    apart = judge(instance_from_data(SMALL), Placement((1, 1, 1), (0, 1, 2)))
    assert apart.objective[0].value == cost((1, 1, 1))


BROKEN = [
    ("weights", [[1, 2], [3], [1, 1]], r"weights\[1\] = '1 entries': must have 2 entries"),
    ("capacities", [[4], [9]], r"capacities\[0\] = '1 entries'"),
    ("distance", [[1, 10]], "distance = '1 rows': must have 2 rows"),
    ("linear", [[1, 2]], "linear = '1 rows': must have 3 rows"),
    ("flow", [[0, 3, 1]], r"flow\[0\]\[1\] = 3: must be below the number of tasks"),
    ("flow", [[0, 1]], r"flow\[0\]\[2\]: is missing"),
    ("flow", [[0, 1, -1]], r"flow\[0\]\[2\] = -1: must be 0 or more"),
    ("solution", [0, 1], "solution = '2 entries': must have one per task"),
    ("solution", [0, 1, 2], r"solution\[2\] = 2: must be below the number of nodes"),
    ("optimum_status", "sure", "optimum_status = 'sure': must be one of"),
    ("capacities", [], "capacities"),
]


@pytest.mark.parametrize(("key", "value", "message"), BROKEN)
def test_shapes_are_checked_by_name(key: str, value: Any, message: str) -> None:
    document = copy.deepcopy(SMALL) | {key: value}
    if key == "capacities" and not value:
        document["distance"] = []
        message = "nodes = .*at least one node"
        document["linear"] = None
    with pytest.raises(InputError, match=message):
        instance_from_data(document)


@pytest.mark.slow
def test_published_values_of_the_public_instances(shared: Path, note: list[str]) -> None:
    files = sorted((shared / "instances").glob("*/*.json"))
    proven = solutions = 0
    for file in files:
        instance = read_instance(file)
        published = published_optimum(json.loads(file.read_text()))
        placement = published.placement()
        if placement is None:
            continue
        solutions += 1
        proven += published.status == "proven"
        verdict = judge(instance, placement)
        assert verdict.violations == (), file.name
        assert verdict.objective[0].value == published.value, file.name
    assert (len(files), solutions, proven) == (90, 36, 36)
    note.append(f"published solutions judged as published: {solutions} of {solutions}")


@pytest.mark.slow
def test_public_instances_are_different_instances(shared: Path) -> None:
    files = sorted((shared / "instances").glob("*/*.json"))
    assert len({instance_hash(read_instance(file)) for file in files}) == len(files)
