"""What throughput and network cost each other: the derived workload, and a tiny case by hand."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from slotwise.benchmarks.experiments.proofs.throughput_price import (
    METHODS,
    RATE,
    STUDIED,
    Point,
    Row,
    studied,
    summary,
    with_workload,
)
from slotwise.models.families.family import Family
from slotwise.models.families.rstorm import RSTORM
from slotwise.models.families.stromax import SHAPES, STROMAX
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem


def pair() -> Instance:
    """Two tasks of 30 points that may share a node, or not."""
    need = {"cpu": Decimal(30)}
    parts = (Component("a", "spout", 1, need), Component("b", "bolt", 1, need))
    offer = {"cpu": Decimal(100)}
    nodes = tuple(Node(f"n{n}", "r", slots=1, resources=offer) for n in range(2))
    topology = Topology("t", parts, (Stream("a", "b"),))
    return Instance("pair", Cluster(nodes), (topology,), objective=Objective(("network",)))


def test_tasks_use_the_cpu_that_they_declare() -> None:
    found = with_workload(pair(), 100, 100)
    assert [one.service_ms for one in found.topologies[0].components] == [Decimal("0.03")] * 2
    assert found.topologies[0].components[0].rate == RATE
    counted = replace(found, objective=Objective(("bottleneck",)))
    problem = compile_problem(counted)
    together = Placement((0, 0), (0, 0))
    assert judge(problem, together).objective[0].value == Decimal("0.6")


def test_both_orders_of_a_pair() -> None:
    row = studied(with_workload(pair(), 100, 100), 20.0, METHODS, 0)
    apart = (row.fastest.rate, row.fastest.network)
    together = (row.cheapest.rate, row.cheapest.network)
    assert apart == (pytest.approx(1 / 0.3), 2)
    assert together == (pytest.approx(1 / 0.6), 0)
    assert row.is_proven(row.fastest, first_is_rate=True) == (True, True)
    assert row.is_proven(row.cheapest, first_is_rate=False) == (True, True)
    assert row.rate_given == pytest.approx(0.5)
    assert row.network_given is None
    spread = row.methods["round-robin"]
    assert spread is not None
    assert spread.rate == pytest.approx(row.fastest.rate)


def test_what_is_open_counts_as_open() -> None:
    exact, open_ = Point(2.0, 6.0, 2.0, 6.0), Point(1.0, 4.0, 2.0, 4.0)
    row = Row("x", 2, 2, exact, open_, dict.fromkeys(METHODS))
    found = summary([row])
    assert found["highest rate proven"] == found["its network proven"] == 1
    assert (found["least network proven"], found["its rate proven"]) == (1, 0)
    assert found["rate given away, median"] == 0.5
    assert found["network given away, median"] == 0.5
    assert found["r-storm, of the rate"] is None


@pytest.mark.parametrize(("family", "count"), [(RSTORM, 9), (STROMAX, len(SHAPES))])
def test_instances_of_the_articles_have_a_workload(family: Family[Instance], count: int) -> None:
    for index in range(count):
        instance = with_workload(family.make(index, 0), 100, 1000)
        terms = ("bottleneck", *instance.objective.terms)
        compile_problem(replace(instance, objective=replace(instance.objective, terms=terms)))
    assert STUDIED[family.name].count == count
