"""Engine `connected` where its tables, lists and searches are given up: what it proves still holds.

A limit that is reached leaves a relaxation, never a claim. Small limits reach all of them on tiny
instances.
"""

from __future__ import annotations

import itertools
from collections import Counter
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from conftest import DEEP
from engine_cases import LIMITS, small_instance
from numpy.random import Generator

import slotwise
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.column_generation.connected.level import make_level
from slotwise.solver.column_generation.connected.place_model import (
    PlaceModel,
    dual_scale,
    make_place_model,
)
from slotwise.solver.column_generation.connected.two_level_search import two_level_search
from slotwise.solver.column_generation.connected.worker_split import WorkerSplitter
from slotwise.solver.column_generation.params import (
    CONNECTED_DEFAULTS,
    ConnectedParams,
    ResidualParams,
)
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Status
from slotwise.solver.exhaustive import EXHAUSTIVE

SMALL: dict[str, tuple[Any, ...]] = {
    "max_partial": (0, 8, 30),
    "max_candidates": (0, 8, 30),
    "max_units": (1, 5, 12),
    "max_assignments": (0, 3, 10),
    "max_subset_cells": (1, 20),
    "max_subset_rows": (1, 20),
    "max_subset_steps": (1, 100),
    "max_split_contents": (0, 2),
    "max_split_partial": (1, 20),
    "max_split_gap": (0, 1),
    "max_split_configurations": (0, 2, 5),
    "max_split_states": (0,),
    "max_load_bound_steps": (0,),
    "max_rack_steps": (0, 50, 500),
    "max_searched": (0, 3),
    "max_listed": (0, 3),
    "max_count_cuts": (0,),
    "tightest_fraction": (0.01, 1.0),
    "levels_fraction": (1e-6,),
    "joint_fraction": (1e-6,),
    "combination_fraction": (1e-6,),
    "tree_fraction": (1.0,),
    "counts_fraction": (1e-6,),
    "loads_fraction": (1e-6,),
    "residual": (ResidualParams(max_states=0),),
}
"""Parameter -> values that tiny instances reach."""


def small_params(rng: Generator) -> ConnectedParams:
    """Return parameters of which about two fifths are small."""
    return ConnectedParams(
        **{
            name: values[int(rng.integers(len(values)))]
            for name, values in SMALL.items()
            if rng.random() < 0.4
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["single", "isolated", "split"])
def test_what_is_proven_holds_whatever_is_given_up(workers: str, note: list[str]) -> None:
    rng = np.random.default_rng(30)
    seen: Counter[str] = Counter()
    for number in range(1000 if DEEP else 60):
        problem = compile_problem(small_instance(rng, workers))
        params = small_params(rng)
        if CONNECTED.supports(problem) is not None or EXHAUSTIVE.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        found = CONNECTED.run(problem, LIMITS, None, params=params)
        seen[f"{truth.status}/{found.status}"] += 1
        case = number, params
        if truth.values is None:
            assert found.values is None, case
            continue
        assert found.status is not Status.INFEASIBLE, case
        bound = found.bounds[0]
        assert bound is None or bound <= truth.values[0], case
        if found.status is Status.OPTIMAL:
            assert found.values == truth.values, case
    note.append(f"connected with small limits ({workers}; truth/claim): {dict(seen)}")
    assert seen["optimal/optimal"] >= 5
    if workers != "single":  # with single workers all of these are proven nevertheless
        assert seen["optimal/feasible"] + seen["optimal/unknown"] >= 2


def drawn(rng: Generator) -> Problem | None:
    """Return a topology on three equal nodes whose workers hold two or three tasks."""
    parts = tuple(
        Component(f"c{i}", "bolt" if i else "spout", tasks, {"cpu": cpu, "onheap_mb": 1})
        for i, (tasks, cpu) in enumerate(rng.integers((1, 1), (4, 5), (3, 2)).tolist())
    )
    pairs = [(one.id, other.id) for one, other in itertools.combinations(parts, 2)]
    streams = tuple(Stream(*pair) for pair in pairs if rng.random() < 0.7)
    topology = Topology("t", parts, streams, worker_max_heap_mb=int(rng.integers(2, 4)))
    resources = {"cpu": int(rng.integers(5, 15)), "memory_mb": 100}
    cluster = Cluster(tuple(Node(f"n{i}", "r", "", 4, resources) for i in range(3)))
    problem = compile_problem(
        Instance("x", cluster, (topology,), objective=Objective(("network",)))
    )
    return None if CONNECTED.supports(problem) else problem


def flow_inside(places: PlaceModel, scale: int, params: ConnectedParams) -> int:
    """Return the bound of what nodes and their workers save, each at their own duals."""
    assert places.workers is not None
    token, forever = RunToken(), 1e9
    nodes, workers = (
        make_level(graph, scale, forever, CONNECTED_DEFAULTS, token)
        for graph in (places.nodes[0], places.workers)
    )
    split = WorkerSplitter(places.workers, workers.duals, forever, params, token)
    search = two_level_search(places, nodes, workers, split, params, token)
    with suppress(TooLongError):
        search.best(forever, LIMITS)
    return search.bound


def test_a_bound_with_small_limits_is_no_better() -> None:
    rng = np.random.default_rng(1)
    seen: Counter[str] = Counter()
    while seen.total() < 60:
        problem = drawn(rng)
        token = RunToken()
        places = problem and make_place_model(problem, token, CONNECTED_DEFAULTS)
        if not places or places.workers is None:
            continue
        if not (places.nodes[0].most.all() and places.workers.most.all()):
            continue
        scale = dual_scale(problem)
        most = flow_inside(places, scale, CONNECTED_DEFAULTS)
        small = ConnectedParams(
            max_split_gap=0, max_subset_cells=1, max_partial=int(rng.choice((2, 4, 8)))
        )
        found = flow_inside(places, scale, small)
        assert found >= most
        seen["the same" if found == most else "weaker"] += 1
    assert min(seen["the same"], seen["weaker"]) >= 5


def test_a_list_of_workers_that_is_given_up_at_once_proves_nothing() -> None:
    """It was taken for all workers of no reduced cost: 18 was proven, 17 is the optimum."""
    parts = tuple(
        Component(name, kind, tasks, {"cpu": cpu, "onheap_mb": 1})
        for name, kind, tasks, cpu in (
            ("c0", "spout", 2, 2), ("c1", "bolt", 2, 3), ("c2", "bolt", 3, 2), ("c3", "bolt", 3, 3),
        )
    )  # fmt: skip
    topology = Topology("t", parts, (Stream("c1", "c2"), Stream("c1", "c3")), worker_max_heap_mb=2)
    resources = {"cpu": 10, "memory_mb": 100}
    cluster = Cluster(tuple(Node(f"n{i}", "r", "", 4, resources) for i in range(5)))
    instance = Instance("x", cluster, (topology,), objective=Objective(("network",)))
    small = ConnectedParams(max_split_configurations=0, max_subset_cells=1, max_partial=8)
    for params in (ConnectedParams(), small):
        found = CONNECTED.run(compile_problem(instance), LIMITS, None, params=params)
        assert found.values == (17,)
        assert found.bounds[0] is not None
        assert found.bounds[0] <= 17


PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def test_components_of_their_own_workers_have_no_small_common_unit() -> None:
    """The least common multiple of their tasks needs more than 64 bits."""
    parts = tuple(Component(f"c{p}", "bolt" if p > 2 else "spout", p, {"cpu": 1}) for p in PRIMES)
    streams = tuple(Stream(one.id, other.id) for one, other in itertools.pairwise(parts))
    topology = Topology("t", parts, streams, one_component_per_worker=True)
    cluster = Cluster(tuple(Node(f"n{i}", "r", "", 20, {"cpu": 100}) for i in range(6)))
    instance = Instance("lcm", cluster, (topology,), objective=Objective(("network",)))
    found = slotwise.solve(instance, engine="connected", time_limit_s=2)
    assert found.status in (Status.OPTIMAL, Status.FEASIBLE)


def test_a_task_that_is_far_too_large_is_infeasible_at_once() -> None:
    parts = (
        Component("a", "spout", 2, {"cpu": 10**14 + 1}), Component("b", "bolt", 3, {"cpu": 1001}),
    )  # fmt: skip
    topology = Topology("t", parts, (Stream("a", "b"),))
    cluster = Cluster(tuple(Node(f"n{i}", "r", "", 4, {"cpu": 3001}) for i in range(3)))
    instance = Instance("far", cluster, (topology,), objective=Objective(("network",)))
    found = slotwise.solve(instance, engine="connected", time_limit_s=20)
    assert found.status is Status.INFEASIBLE
