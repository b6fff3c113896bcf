"""LSA and MBA: by hand, by the article, and by what the authors' own scripts wrote."""

from __future__ import annotations

import json
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import pytest
from sam_cases import chain, model

from slotwise.heuristics.sam.allocations import Refused, allocate_lsa, allocate_mba
from slotwise.models.allocation.load import task_demands
from slotwise.models.allocation.plan import TaskAllocation, estimated_slots
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models

ALGORITHMS = {"lsa": allocate_lsa, "mba": allocate_mba}
X = model("x", (1, 4, 10, 6), (3, 9, 30, 20), (5, 9, 35, 25))


def given(algorithm: str, dag: str, rate: int) -> dict[str, TaskAllocation]:
    demands = task_demands(MICRO_DAGS[dag], article_models(), Fraction(rate))
    allocation = ALGORITHMS[algorithm](demands)
    assert not isinstance(allocation, Refused)
    return allocation


def half_up(value: Fraction) -> int:
    """As the article rounds: 336.5 % is 337 %."""
    return floor(value + Fraction(1, 2))


def of_x(algorithm: str, rate: str) -> TaskAllocation:
    allocation = ALGORITHMS[algorithm](task_demands(chain("x"), {"x": X}, Fraction(rate)))
    assert not isinstance(allocation, Refused)
    return allocation["x"]


@pytest.mark.parametrize(
    ("rate", "threads", "cpu", "memory"),
    [
        ("3", 1, "7.5", "4.5"),  # a trailing thread alone, 3/4 of it
        ("4", 1, "10", "6"),  # >=: no trailing thread
        ("8", 2, "20", "12"),
        ("9", 3, "22.5", "13.5"),
    ],
)
def test_lsa_by_hand(rate: str, threads: int, cpu: str, memory: str) -> None:
    assert of_x("lsa", rate) == TaskAllocation(threads, Fraction(cpu), Fraction(memory))


@pytest.mark.parametrize(
    ("rate", "threads", "cpu", "memory"),
    [
        ("2", 1, "5", "3"),  # one thread: scaled by 2/4
        ("5", 3, "30", "20"),  # T(5) = 3 threads: not scaled
        ("9", 3, "100", "100"),  # a full bundle, the fewest threads with rate 9
        ("11", 4, "105", "103"),
        ("24", 9, "230", "220"),
    ],
)
def test_mba_by_hand(rate: str, threads: int, cpu: str, memory: str) -> None:
    assert of_x("mba", rate) == TaskAllocation(threads, Fraction(cpu), Fraction(memory))


@pytest.mark.parametrize("rate", [Fraction(1, 10) * 3, Fraction(21, 10)])
def test_multiples_of_a_rate_that_no_double_has(rate: Fraction) -> None:
    tenth = model("x", (1, "0.1", 1, 1))
    for algorithm in ALGORITHMS.values():
        allocation = algorithm(task_demands(chain("x"), {"x": tenth}, rate))
        assert not isinstance(allocation, Refused)
        assert allocation["x"].threads == rate * 10


def test_a_task_without_tuples_gets_no_threads() -> None:
    dag, models = chain("x", "y", selectivity="0"), {"x": X, "y": model("y", (1, 0, 1, 1))}
    for algorithm in ALGORITHMS.values():
        allocation = algorithm(task_demands(dag, models, Fraction(5)))
        assert not isinstance(allocation, Refused)
        assert allocation["y"] == TaskAllocation(0, Fraction(0), Fraction(0))


@pytest.mark.parametrize(
    ("algorithm", "dag", "slots"),
    [
        ("lsa", "linear", [7, 13, 25]),
        ("lsa", "diamond", [7, 13, 26]),
        ("lsa", "star", [7, 13, 26]),
        ("mba", "linear", [4, 7, 14]),
        ("mba", "diamond", [5, 10, 20]),
        ("mba", "star", [4, 8, 17]),
    ],
)
def test_estimates_of_the_article(algorithm: str, dag: str, slots: list[int]) -> None:
    found = [estimated_slots(given(algorithm, dag, rate)) for rate in (50, 100, 200)]
    assert found == slots


@pytest.mark.parametrize(
    ("algorithm", "dag", "rate", "task", "threads", "cpu", "memory"),
    [
        ("lsa", "linear", 100, "blob", 50, 337, 1196),  # lines 1609 to 1612
        ("mba", "linear", 100, "blob", 170, 315, 326),
        ("mba", "diamond", 100, "table", 160, None, None),  # line 1662
        ("lsa", "diamond", 50, "table", 17, None, None),  # line 1648 says 18
        ("lsa", "linear", 50, "blob", 25, None, 598),  # line 1685
        ("mba", "linear", 50, "blob", 80, None, 129),  # line 1694 cuts 128.74 to 128
        ("lsa", "linear", 160, "table", 54, None, None),  # line 1852
        ("mba", "linear", 280, "table", 420, None, None),
        ("mba", "linear", 280, "blob", 470, None, None),
    ],
)
def test_tasks_in_the_text(
    algorithm: str,
    dag: str,
    rate: int,
    task: str,
    threads: int,
    cpu: int | None,
    memory: int | None,
) -> None:
    found = given(algorithm, dag, rate)[task]
    assert found.threads == threads
    assert cpu is None or half_up(found.cpu) == cpu
    assert memory is None or half_up(found.memory) == memory


def test_sums_in_the_text() -> None:
    """Lines 1674 (12.47 slots; of Linear, not of Star), 1687, 1688, 1695; they are cut off."""

    def sums(algorithm: str, rate: int) -> tuple[int, int]:
        values = given(algorithm, "linear", rate).values()
        return floor(sum(one.cpu for one in values)), floor(sum(one.memory for one in values))

    assert sums("lsa", 50) == (242, 623)
    assert sums("lsa", 100)[1] == 1247
    assert sums("mba", 50)[0] == 323


OUTPUTS = json.loads(Path(__file__).with_name("authors_outputs.json").read_text("utf-8"))["rows"]


@pytest.mark.parametrize(
    "row", OUTPUTS, ids=[f"{row['dag']}-{row['allocation']}-{row['rate']}" for row in OUTPUTS]
)
def test_outputs_of_the_authors(row: dict[str, Any]) -> None:
    found = given(row["allocation"], row["dag"], row["rate"])
    assert set(found) == set(row["tasks"])
    for name, task in row["tasks"].items():
        assert found[name].threads == task["threads"]
        for ours, theirs in ((found[name].cpu, "cpu"), (found[name].memory, "mem")):
            if theirs in task:  # three decimals are printed
                assert float(ours) == pytest.approx(task[theirs], abs=0.001)


def test_lsa_refuses_a_thread_that_supports_nothing() -> None:
    late = model("x", (1, 0, 1, 1), (2, 5, 1, 1))
    refused = allocate_lsa(task_demands(chain("x"), {"x": late}, Fraction(3)))
    assert refused == Refused("lsa: one thread of task 'x' supports 0 tuples/s")


def test_mba_refuses_a_full_bundle_beyond_its_slot() -> None:
    large = model("x", (1, 4, 10, 60), (2, 9, 30, 110))
    refused = allocate_mba(task_demands(chain("x"), {"x": large}, Fraction(10)))
    assert isinstance(refused, Refused)
    assert refused.reason == (
        "mba: a full bundle of task 'x' (2 threads) uses 30 % CPU and 110 % memory of its slot"
    )
