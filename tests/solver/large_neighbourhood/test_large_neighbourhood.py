"""Large-neighbourhood search: never invalid, never worse, and often optimal on tiny instances."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from solved import first_solved, solved

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits, Status
from slotwise.solver.large_neighbourhood import LARGE_NEIGHBOURHOOD, can_free, choose_nodes, freed

STEPS = Limits(time_s=60, deterministic_work=6)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 300), st.integers(0, 3))
def test_it_is_never_invalid_never_worse_and_the_same_for_a_seed(number: int, seed: int) -> None:
    one = solved(number)
    start = BASELINE.run(one.problem, Limits(), None).placement
    if start is None or LARGE_NEIGHBOURHOOD.supports(one.problem) or not {*start.nodes} - {-1}:
        return
    limits = Limits(time_s=60, seed=seed, deterministic_work=3)
    found, again = (LARGE_NEIGHBOURHOOD.run(one.problem, limits, start) for _ in "ab")
    assert found.placement is not None
    assert found.placement == again.placement
    verdict = judge(one.problem, found.placement)
    assert not verdict.violations
    assert one.truth.values is not None
    assert one.truth.values <= verdict.scaled <= judge(one.problem, start).scaled


@pytest.mark.slow
def test_it_often_finds_the_optimum(note: list[str]) -> None:
    tally: Counter[str] = Counter()
    for one in first_solved(80):
        start = BASELINE.run(one.problem, Limits(), None).placement
        if start is None or LARGE_NEIGHBOURHOOD.supports(one.problem) or not {*start.nodes} - {-1}:
            continue
        found = LARGE_NEIGHBOURHOOD.run(one.problem, STEPS, start)
        tally["all"] += 1
        tally["improved"] += found.values != judge(one.problem, start).scaled
        tally["optimal"] += found.values == one.truth.values
    note.append(f"large neighbourhoods on tiny instances: {dict(tally)}")
    assert tally["all"] >= 25
    assert tally["improved"] >= 3
    assert tally["optimal"] >= 0.7 * tally["all"]


@pytest.mark.slow
def test_values_of_a_neighbourhood_are_those_of_the_whole_less_a_constant(note: list[str]) -> None:
    """Whatever CP-SAT makes of it is valid in the whole, and changes both by the same."""
    tally: Counter[str] = Counter()
    for one in first_solved(150):
        problem = one.problem
        start = BASELINE.run(problem, Limits(), None).placement
        if start is None or LARGE_NEIGHBOURHOOD.supports(problem) or not {*start.nodes} - {-1}:
            continue
        nodes = choose_nodes(problem, start, 2, 0.5, np.random.default_rng(one.number))
        if not can_free(problem, nodes):
            continue
        part = freed(problem, start, nodes)
        before = judge(part.problem, part.start)
        assert not before.violations
        found = CP_SAT.run(part.problem, Limits(), part.start)
        assert found.placement is not None
        assert found.status is Status.OPTIMAL
        whole = judge(problem, part.restored(start, found.placement))
        assert not whole.violations
        kept = [
            index
            for index, term in enumerate(problem.terms)
            if any(name != "rejected" for name, _ in term.parts)
        ]
        assert found.values is not None
        changes = [a - b for a, b in zip(found.values, before.scaled, strict=True)]
        first = judge(problem, start).scaled
        assert changes == [whole.scaled[i] - first[i] for i in kept]
        tally["all"] += 1
        tally["better"] += any(changes)
        tally["racks"] += len({int(problem.node_rack[n]) for n in nodes}) > 1
    note.append(f"neighbourhoods: {dict(tally)}")
    assert tally["all"] >= 60
    assert tally["better"] >= 5
    assert tally["racks"] >= 5


def test_a_term_of_linear_costs_may_stand_alone_where_there_are_none() -> None:
    """The flow to the other rack is a linear cost of the neighbourhood, in the network's term."""
    topology = Topology(
        "t", (Component("a", "spout", 3), Component("b", "bolt", 3)), (Stream("a", "b"),)
    )
    nodes = tuple(
        Node(f"n{i}", f"r{i % 2}", slots=3, resources={"memory_mb": 256}) for i in range(4)
    )
    objective = Objective(("overload", "network", "linear"))
    instance = Instance("racks", Cluster(nodes), (topology,), objective=objective)
    problem = compile_problem(instance)
    start = Placement((0, 0, 1, 1, 2, 3), (0,) * 6)
    part = freed(problem, start, [0, 1])
    assert [term.name for term in part.problem.terms] == ["overload", "network+linear"]
    found = LARGE_NEIGHBOURHOOD.run(problem, STEPS, start)
    assert found.values is not None
    assert found.values < judge(problem, start).scaled


def test_it_needs_a_placement_to_start_from() -> None:
    with pytest.raises(NotTakenError):
        LARGE_NEIGHBOURHOOD.run(solved(0).problem, STEPS, None)
