"""Engine configurations against exhaustive search on tiny instances and cp-sat on larger ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import product

import numpy as np
import pytest
from conftest import DEEP
from hypothesis import event, given

from slotwise.models.families.random_planted import RandomParameters, random_instance
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.instance import Instance, Objective, parts_of
from slotwise.models.instance.topology import Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.configurations.engine import (
    FAST_CONFIGURATIONS as CONFIGURATIONS,
)
from slotwise.solver.column_generation.configurations.engine import (
    UNSUPPORTED_PARTS,
    make_model,
    run,
)
from slotwise.solver.column_generation.params import (
    ColumnsParams,
    ConfigurationsParams,
    PackingParams,
)
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.solve import solve
from slotwise.solver.structure.task_types import merge_twins
from slotwise.testing import instances
from slotwise.testing.random_instances.tiny import tiny_instance

LIMITS = Limits(time_s=20.0)

# Proven here by engine configurations, and found again by cp-sat where it closes (linear-b,
# diamond-b, star-c within seconds). Overload first, then network cost.
RSTORM_OPTIMA = {
    "linear-a": (0, 656),
    "linear-b": (0, 48),
    "diamond-a": (0, 714),
    "diamond-b": (0, 145),
    "star-a": (720, 1390),
    "star-b": (80, 442),
    "star-c": (0, 54),
    "page-load": (0, 41),
    "processing": (0, 204),
}


def within_support(instance: Instance) -> Instance:
    """Take away what the engine does not know: matrices, moves, rejection, costs of workers."""
    unknown = {*UNSUPPORTED_PARTS, "workers"}
    terms = tuple(t for t in instance.objective.terms if not set(parts_of(t)) & unknown)
    return replace(
        instance,
        cluster=replace(instance.cluster, matrix=None),
        topologies=tuple(_with_node_memory_only(t) for t in instance.topologies),
        scheduler=replace(instance.scheduler, worker_min_cpu=Decimal(0)),
        running=None,
        objective=replace(instance.objective, terms=terms or ("overload", "network"), limits={}),
    )


def _with_node_memory_only(topology: Topology) -> Topology:
    shared = tuple(region for region in topology.shared_memory if region.kind == "offheap_node")
    return replace(topology, shared_memory=shared)


def agrees(problem: Problem, truth: Outcome, other: Outcome) -> None:
    """A finished answer is the truth; an unfinished one has a valid placement and true bounds."""
    if other.status in (Status.OPTIMAL, Status.INFEASIBLE):
        assert (other.status, other.values) == (truth.status, truth.values)
    if other.placement is not None:
        verdict = judge(problem, other.placement)
        assert verdict.valid
        assert verdict.scaled == other.values
    if truth.values is not None:
        proven = [b for b in other.bounds if b is not None]
        assert tuple(proven) <= truth.values[: len(proven)]


COUNT = 400 if DEEP else 150


@pytest.mark.slow
def test_equals_exhaustive_search(note: list[str]) -> None:
    rng = np.random.default_rng(7)
    seen: Counter[str] = Counter()
    for _ in range(4000):
        if seen.total() == COUNT:
            break
        problem = compile_problem(within_support(tiny_instance(rng)))
        if CONFIGURATIONS.supports(problem) is not None:
            continue
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        try:
            other = CONFIGURATIONS.run(problem, LIMITS, None)
        except NotTakenError as error:
            seen[f"not taken: {error}"] += 1
            continue
        agrees(problem, truth, other)
        seen[f"{truth.status}/{other.status}"] += 1
    assert seen.total() == COUNT, "too few of those that are drawn are taken"
    note.append(f"configurations against exhaustive (truth/claim): {dict(seen)}")
    assert seen["optimal/optimal"] >= 3 * COUNT // 8
    assert seen["infeasible/infeasible"] >= COUNT // 20


@pytest.mark.slow
@given(instances(most_tasks=5, wide_numbers=True))
def test_equals_exhaustive_search_on_any_instance(instance: Instance) -> None:
    problem = compile_problem(within_support(instance))
    if CONFIGURATIONS.supports(problem) is None:
        truth = EXHAUSTIVE.run(problem, LIMITS, None)
        try:
            agrees(problem, truth, CONFIGURATIONS.run(problem, LIMITS, None))
        except NotTakenError:
            event("not taken")


# It takes seconds; the others go the same way.
SLOW = {"processing": pytest.mark.deep}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "optimum"),
    [pytest.param(*case, marks=SLOW.get(case[0], ())) for case in RSTORM_OPTIMA.items()],
)
def test_rstorm_topologies_are_proven(name: str, optimum: tuple[int, int]) -> None:
    family = FAMILIES["rstorm"]
    made = (family.make(index, 0) for index in range(family.count))
    instance = next(i for i in made if i.name == name)
    result = solve(instance, engine="configurations", time_limit_s=120)
    assert result.status == Status.OPTIMAL
    assert tuple(t.value for t in result.objective) == optimum


# Drawn alike; those that take seconds are left to the deep run, but for one.
@pytest.mark.parametrize(
    "index",
    [0, 2, 3, 5, 6, 7, 8, *(pytest.param(index, marks=pytest.mark.deep) for index in (1, 4, 9))],
)
def test_equals_cp_sat_on_middle_sizes(index: int) -> None:
    parameters = RandomParameters(tasks=14, components=4, nodes=4, infeasible_percent=10)
    instance, _ = random_instance(parameters, index, 0)
    problem = compile_problem(within_support(instance))
    first = CONFIGURATIONS.run(problem, LIMITS, None)
    second = CP_SAT.run(problem, LIMITS, None)
    assert {first.status, second.status} & {Status.OPTIMAL, Status.INFEASIBLE}
    for one, other in ((first, second), (second, first)):
        if one.status in (Status.OPTIMAL, Status.INFEASIBLE):
            agrees(problem, one, other)


def test_says_why_it_does_not_take_an_instance() -> None:
    instance = FAMILIES["rstorm"].make(0, 0)
    limited = replace(instance.topologies[0], worker_max_heap_mb=256)
    instance = replace(instance, objective=Objective(("network", "workers")))
    reason = CONFIGURATIONS.supports(compile_problem(replace(instance, topologies=(limited,))))
    assert reason is not None
    assert "linear-a" in reason


FEW = ConfigurationsParams(
    max_configurations=10,
    packing=PackingParams(max_configurations=10),
    columns=ColumnsParams(packing=PackingParams(max_configurations=10)),
)


def test_too_many_configurations_are_refused() -> None:
    problem = compile_problem(FAMILIES["rstorm"].make(0, 0))
    with pytest.raises(NotTakenError, match="configurations"):
        run(problem, LIMITS, None, params=FEW)


def test_exactly_nodes_of_too_many_configurations_are_refused() -> None:
    rngs = map(np.random.default_rng, range(80))
    drawn = [compile_problem(within_support(tiny_instance(rng))) for rng in rngs]
    checked = [_refuses_exactly_too_many(problem) for problem in drawn if _is_plain(problem)]
    assert sum(checked) > 10


def _is_plain(problem: Problem) -> bool:
    if CONFIGURATIONS.supports(problem) is not None:
        return False
    return len(problem.rules) == 1 and not problem.rules[0].max_per_node


def _refuses_exactly_too_many(problem: Problem) -> bool:
    """Check the limit at the number counted here one by one; return whether it is above 1."""
    kinds = merge_twins(problem, RunToken())
    boxes = product(*(range(size + 1) for size in kinds.sizes.tolist()))
    loads = np.array(list(boxes), dtype=np.int64).reshape(-1, kinds.count) @ kinds.demand
    room = np.where(problem.hard, problem.capacity, NO_LIMIT)
    count = max(int((loads <= one).all(axis=1).sum()) for one in room)
    token = RunToken()
    make_model(problem, 20.0, ConfigurationsParams(max_configurations=count), token)
    if count == 1:
        return False
    with pytest.raises(NotTakenError, match="configurations"):
        make_model(problem, 20.0, ConfigurationsParams(max_configurations=count - 1), token)
    return True


@pytest.mark.slow
def test_auto_goes_on_with_cp_sat() -> None:
    result = solve(
        FAMILIES["rstorm"].make(1, 0), time_limit_s=60, parameters={"configurations": FEW}
    )
    assert "cp-sat" in result.engine.split("+")
    assert tuple(t.value for t in result.objective) == RSTORM_OPTIMA["linear-b"]
