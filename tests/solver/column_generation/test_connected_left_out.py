"""A rule that ``connected`` leaves out, in whole or in one place, costs it proofs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from connected_cases import (
    RULES,
    on_topology,
    proven,
    with_hard_capacities,
)

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.topology import Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.enumeration import least_load
from slotwise.solver.column_generation.connected import (
    engine,
    node_rules,
    place_model,
    worker_split,
)
from slotwise.solver.column_generation.connected.graph import Admits, FlowGraph
from slotwise.solver.column_generation.connected.node_rules import (
    NodeRules,
    TopologyKinds,
    within_worker,
)
from slotwise.solver.column_generation.connected.place_model import PlaceModel, make_place_model
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.structure.task_types import TaskTypes

pytestmark = pytest.mark.slow

LeftOut = tuple[object, str, Callable[..., object]]
"""Where a function stands, its name, and one that leaves a rule out."""


def as_if(change: Callable[[Problem], Problem]) -> LeftOut:
    """Let the engine, but not the judge, see another problem."""

    def make(problem: Problem, token: CancellationToken, params: ConnectedParams) -> PlaceModel:
        return make_place_model(change(problem), token, params)

    return engine, "make_place_model", make


def all_kept(*arguments: object) -> BoolArray:
    """Keep every row of the last argument."""
    counts = arguments[-1]
    assert isinstance(counts, np.ndarray)
    return np.ones(len(counts), dtype=np.bool_)


def load_without_least_cpu(
    rules: node_rules._TopologyRules, counts: IntArray
) -> tuple[IntArray, IntArray]:
    return least_load(rules._problem, rules._kinds, counts), rules._workers(counts)


def most_workers_of_all(rules: NodeRules, counts: IntArray) -> tuple[IntArray, IntArray]:
    """Return what a node loads, as if topologies shared workers."""
    loads, workers = zip(*(one.load(counts[:, at]) for at, one in rules._parts), strict=True)
    return np.asarray(sum(loads)), np.asarray(np.max(workers, axis=0))


def load_without_regions(problem: Problem, kinds: TaskTypes, counts: IntArray) -> IntArray:
    return least_load(replace(problem, regions=()), kinds, counts)


_workers = place_model._workers


def workers_of_any_topologies(
    problem: Problem,
    kinds: TaskTypes,
    topologies: Sequence[TopologyKinds],
    params: ConnectedParams,
    token: CancellationToken,
) -> FlowGraph:
    graph = _workers(problem, kinds, topologies, params, token)
    rules: list[tuple[slice, Admits]] = [
        (one.at, within_worker(problem, one)[1]) for one in topologies
    ]

    def admits(counts: IntArray) -> BoolArray:
        kept = [admits_part(counts[:, at]) for at, admits_part in rules]
        return np.logical_and.reduce([*kept, (counts <= graph.most).all(axis=1)])

    return replace(graph, admits=admits)


def soft_capacities_ignored(problem: Problem) -> Problem:
    return replace(problem, capacity=np.where(problem.hard, problem.capacity, NO_LIMIT))


def ackers_of_no_size(problem: Problem) -> Problem:
    def of_no_size(topology: Topology) -> Topology:
        assert topology.ackers is not None
        return replace(topology, ackers=replace(topology.ackers, resources={}))

    return compile_problem(on_topology(problem.instance, of_no_size))


IN_WHOLE = {"capacity", "one component", "one component, shared", "one task"}
"""Rules that many places read."""

LEFT_OUT: dict[str, tuple[str, LeftOut]] = {
    **{
        name: (name, as_if(ruled.otherwise))
        for name, ruled in RULES.items()
        if name in IN_WHOLE and ruled.otherwise is not None
    },
    "least cpu of all workers of a node": (
        "least cpu",
        (node_rules._TopologyRules, "load", load_without_least_cpu),
    ),
    "least cpu of workers of one kind": (
        "least cpu",
        (node_rules, "_cpu_of_own_workers", lambda cpu, most, least, counts: counts @ cpu),
    ),
    "heap of a worker": (
        "heap",
        (node_rules, "heap_of", lambda problem, kinds: np.zeros(kinds.count, dtype=np.int64)),
    ),
    "workers of a node by heap": ("heap", (node_rules, "find_worker_rules", lambda *rule: [])),
    "slots": ("slots", (place_model, "_most_workers", lambda problem: problem.task_count)),
    "tasks kept apart in a worker": (
        "incompatible",
        (node_rules, "_kept_apart", lambda problem, kinds, rules: all_kept),
    ),
    "workers of a node by tasks kept apart": (
        "incompatible",
        (node_rules, "_cliques", lambda components, rules: []),
    ),
    "most on a node": ("most on a node", (place_model, "within_node_caps", all_kept)),
    "most on a node while packing": (
        "most on a node",
        (worker_split, "within_node_caps", all_kept),
    ),
    "memory shared on the heap of a worker": (
        "shared on the heap",
        (node_rules, "_shared_on_heap", lambda problem, kinds: []),
    ),
    **{
        f"memory {name} on a node": (name, (node_rules, "least_load", load_without_regions))
        for name in RULES
        if name.startswith("shared")
    },
    "ackers": ("ackers", as_if(ackers_of_no_size)),
    "one topology in the worker of a node": (
        "several topologies",
        (PlaceModel, "by_topology", lambda places, configuration: [configuration]),
    ),
    "one topology in a worker": (
        "several topologies",
        (place_model, "_workers", workers_of_any_topologies),
    ),
    "workers of all topologies": (
        "several topologies",
        (NodeRules, "load", most_workers_of_all),
    ),
    "soft capacities": (
        "soft, overload first",
        (place_model, "binding", soft_capacities_ignored),
    ),
}
"""Where a rule is left out -> the problems on which it binds, see `RULES`; how."""


@pytest.mark.parametrize(("name", "left_out"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_less_is_proven(name: str, left_out: LeftOut, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number falls below what `test_agrees_with_exhaustive_search` asks for."""
    monkeypatch.setattr(*left_out)
    assert proven(name) < RULES[name].of_binding


MUST_NOT_BIND = ("soft, network first", "soft, in one term")


@pytest.mark.parametrize("name", MUST_NOT_BIND)
def test_capacities_that_must_not_bind_make_claims_wrong(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*as_if(with_hard_capacities))
    with pytest.raises(AssertionError, match=r"bounds .* but"):
        proven(name)


def test_each_rule_is_left_out() -> None:
    assert {name for name, _ in LEFT_OUT.values()} == RULES.keys() - {*MUST_NOT_BIND}
