"""Engine ``connected`` under each rule that it takes, on cases by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from connected_cases import check_claim
from engine_cases import LIMITS
from rule_cases import CASES, KINDS, instance, overload, pair, shared_heap, task, worker_min_cpu

from slotwise.models.instance.cluster import Cluster
from slotwise.models.instance.topology import Constraints, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.column_generation.connected import place_model
from slotwise.solver.column_generation.connected.engine import CONNECTED
from slotwise.solver.core.result import Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.solve import solve

UNPROVEN = {
    "shared memory per worker",
    "shared memory per worker kept apart",
    "ackers that part a topology",
    "topologies that compete",
}
"""Rows whose forced optimum the bounds do not reach: they count a region once on a node, however
many workers have their own, and take as many nodes as connected contents ask for.
"""

TAKEN = [
    name
    for name, row in CASES.items()
    if CONNECTED.supports(compile_problem(row.trivial[0]())) is None
]

DECLINED = ("overload", "infeasible")
"""Overload is certain there."""


@pytest.mark.parametrize(
    ("row", "kind"),
    [(row, kind) for row in TAKEN for kind in KINDS if (row, kind) != DECLINED],
)
def test_rule(row: str, kind: str) -> None:
    make, expected = getattr(CASES[row], kind)
    problem = compile_problem(make())
    assert CONNECTED.supports(problem) is None
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    assert truth.values == expected
    found = CONNECTED.run(problem, LIMITS, None)
    check_claim(problem, truth, found, row)
    if expected is None:
        assert found.placement is None
        assert found.status in (Status.INFEASIBLE, Status.UNKNOWN)
        assert truth.status is solve(problem).status is Status.INFEASIBLE
    elif kind == "forced" and row in UNPROVEN:
        assert found.status in (Status.FEASIBLE, Status.UNKNOWN)
    else:
        assert found.status is Status.OPTIMAL
        assert found.values == found.bounds == expected


def test_each_rule_that_it_takes_decides_some_row() -> None:
    decided = {CASES[row].rule for row in TAKEN if row not in UNPROVEN}
    assert decided == (place_model.RULES - {"placed"}) | {"ackers"}


FITS_NOWHERE = {
    "least cpu": worker_min_cpu(49, 2),
    "heap shared": shared_heap(70, None),
    "one of two topologies": instance(
        pair(each={"gpu": 1}), Topology("u", (task("a", gpu=3),)), gpu=2
    ),
}


@pytest.mark.parametrize("name", FITS_NOWHERE)
def test_is_infeasible_where_a_task_fits_nowhere(name: str) -> None:
    problem = compile_problem(FITS_NOWHERE[name])
    assert CONNECTED.run(problem, LIMITS, None).status is Status.INFEASIBLE
    assert EXHAUSTIVE.run(problem, LIMITS, None).status is Status.INFEASIBLE


def test_rules_together() -> None:
    """Two tasks that share no worker, of which one is alone in its worker and on its node."""
    rules = Constraints((("a", "a"), ("a", "b")), {"a": 1})
    problem = compile_problem(instance(pair(constraints=rules)))
    found = CONNECTED.run(problem, LIMITS, None)
    assert (found.status, found.values) == (Status.OPTIMAL, (1,))
    assert EXHAUSTIVE.run(problem, LIMITS, None).values == (1,)


def two_softly(*points: int) -> Problem:
    """Return the pair on nodes of these cpu points, of which more may be used."""
    equal = overload(0, len(points))
    nodes = tuple(
        replace(node, resources={"cpu": cpu})
        for node, cpu in zip(equal.cluster.nodes, points, strict=True)
    )
    return compile_problem(replace(equal, cluster=Cluster(nodes)))


def test_where_overload_is_certain_nothing_is_claimed() -> None:
    """Two tasks of 10 points on nodes of 16 and 5: in all there is room, yet one has none."""
    problem = two_softly(16, 5)
    truth = EXHAUSTIVE.run(problem, LIMITS, None)
    found = CONNECTED.run(problem, LIMITS, None)
    assert truth.values is not None
    assert truth.values[0] > 0
    assert found.status in (Status.UNKNOWN, Status.FEASIBLE)
    assert found.bounds[0] == 0


def test_declines_where_soft_capacities_cannot_hold_all_tasks() -> None:
    assert CONNECTED.supports(two_softly(16, 3)) is not None
    assert CONNECTED.supports(two_softly(16, 5)) is None
    make, _ = CASES["overload"].infeasible
    assert CONNECTED.supports(compile_problem(make())) is not None
