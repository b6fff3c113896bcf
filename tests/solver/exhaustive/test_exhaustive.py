"""The exhaustive engine against a naive enumerator that asks the judge at every leaf."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Place, Scheduler
from slotwise.models.instance.placement import UNPLACED, Placement, from_places
from slotwise.models.instance.topology import Ackers, Component, Constraints, Stream, Topology
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver import exhaustive
from slotwise.solver.core.reporter import null_reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.testing import instances
from slotwise.testing.random_instances.tiny import tiny_instance

MOST_LEAVES = 400


def labels(problem: Problem, node: int) -> list[int]:
    """All home labels on a node, and enough others for every worker it may hold."""
    homes = {c.home[1] for c in problem.classes if c.home is not None and c.home[0] == node}
    plain = (i for i in itertools.count() if i not in homes)
    enough = min(problem.task_count, int(problem.slots[node]))
    return sorted(homes) + list(itertools.islice(plain, enough))


def places(problem: Problem) -> list[tuple[int, int]]:
    everywhere = [(n, label) for n in range(problem.node_count) for label in labels(problem, n)]
    return everywhere + [(UNPLACED, UNPLACED)] * problem.may_reject


def naive(problem: Problem) -> tuple[Status, tuple[int, ...] | None]:
    """Judge every assignment of tasks to places; no symmetry, no pruning."""
    best: tuple[int, ...] | None = None
    for taken in itertools.product(places(problem), repeat=problem.task_count):
        placement = Placement(tuple(n for n, _ in taken), tuple(w for _, w in taken))
        verdict = judge(problem, placement)
        if verdict.valid and (best is None or verdict.scaled < best):
            best = verdict.scaled
    return (Status.INFEASIBLE if best is None else Status.OPTIMAL), best


def leaves(problem: Problem) -> int:
    return len(places(problem)) ** problem.task_count


def solve(instance: Instance) -> Outcome:
    return EXHAUSTIVE.run(compile_problem(instance), Limits(), None)


def small_instances(seed: int, count: int, most_leaves: int) -> list[Instance]:
    rng = np.random.default_rng(seed)
    drawn = (tiny_instance(rng, most_tasks=4, most_nodes=3) for _ in range(10 * count))
    small = (one for one in drawn if leaves(compile_problem(one)) <= most_leaves)
    found = list(itertools.islice(small, count))
    assert len(found) == count, "too few of those that are drawn are small"
    return found


def check_against_naive(instance: Instance) -> Status:
    problem = compile_problem(instance)
    outcome = EXHAUSTIVE.run(problem, Limits(), None)
    assert (outcome.status, outcome.values) == naive(problem)
    if outcome.placement is not None:
        verdict = judge(problem, outcome.placement)
        assert verdict.violations == ()
        assert verdict.scaled == outcome.values == outcome.bounds
    return outcome.status


@pytest.mark.slow
def test_equals_naive_enumeration(note: list[str]) -> None:
    statuses = Counter(map(check_against_naive, small_instances(2026, 110, MOST_LEAVES)))
    note.append(f"exhaustive against naive enumeration: {dict(statuses)}")
    assert statuses[Status.OPTIMAL] >= 65
    assert statuses[Status.INFEASIBLE] >= 20


@pytest.mark.slow
@given(instances(most_tasks=3, most_nodes=3, wide_numbers=True))
def test_equals_naive_enumeration_on_any_instance(instance: Instance) -> None:
    assume(leaves(compile_problem(instance)) <= 400)
    event(str(check_against_naive(instance)))


@pytest.mark.slow
@given(instances(most_tasks=4, wide_numbers=True), st.randoms(use_true_random=False))
def test_relabelling_changes_nothing(instance: Instance, random: object) -> None:
    renamed = relabelled(instance, random)
    before, after = solve(instance), solve(renamed)
    assert (before.status, before.values) == (after.status, after.values)


def relabelled(instance: Instance, random: object) -> Instance:
    """Return the instance with nodes, components and topologies renamed and shuffled.

    Components that receive a ``global`` stream keep their tasks, so nothing else changes.
    """
    nodes = list(range(len(instance.cluster.nodes)))
    random.shuffle(nodes)  # type: ignore[attr-defined]
    old = instance.cluster
    new_node = {n.id: f"node-{n.id}" for n in old.nodes}
    matrix = old.matrix and tuple(tuple(old.matrix[i][j] for j in nodes) for i in nodes)
    cluster = replace(
        old,
        nodes=tuple(
            replace(old.nodes[i], id=new_node[old.nodes[i].id], rack=f"rack-{old.nodes[i].rack}")
            for i in nodes
        ),
        matrix=matrix,
    )
    topologies = [renamed_topology(topology) for topology in instance.topologies]
    random.shuffle(topologies)  # type: ignore[attr-defined]
    running = instance.running and {
        f"new-{t}": {
            renamed_task(task): Place(new_node[p.node], p.worker) for task, p in tasks.items()
        }
        for t, tasks in instance.running.items()
    }
    linear = tuple(
        replace(row, task=renamed_row(row.task), node=new_node[row.node]) for row in instance.linear
    )
    return replace(
        instance,
        cluster=cluster,
        topologies=tuple(topologies),
        running=running,
        linear=linear,
        name="renamed",
    )


def renamed_row(task: str) -> str:
    topology, _, rest = task.partition("/")
    return f"new-{topology}/{renamed_task(rest)}"


def renamed_task(task: str) -> str:
    return task if task.startswith("__acker") else f"x-{task}"


def renamed_topology(topology: Topology) -> Topology:
    constraints = Constraints(
        tuple((f"x-{b}", f"x-{a}") for a, b in topology.constraints.incompatible),
        {f"x-{c}": most for c, most in topology.constraints.max_per_node.items()},
    )
    return replace(
        topology,
        id=f"new-{topology.id}",
        components=tuple(replace(c, id=f"x-{c.id}") for c in reversed(topology.components)),
        streams=tuple(
            replace(s, source=f"x-{s.source}", target=f"x-{s.target}")
            for s in reversed(topology.streams)
        ),
        constraints=constraints,
        shared_memory=tuple(
            replace(r, components=tuple(f"x-{c}" for c in r.components))
            for r in topology.shared_memory
        ),
    )


@pytest.mark.slow
@given(
    instances(most_tasks=4, wide_numbers=True),
    st.sampled_from(["resource", "slots"]),
    st.integers(0, 3),
)
def test_more_capacity_never_hurts(instance: Instance, what: str, which: int) -> None:
    nodes = list(instance.cluster.nodes)
    node = nodes[which % len(nodes)]
    if what == "slots":
        bigger = replace(node, slots=None if node.slots is None else node.slots + 1)
    else:
        grown = {k: None if v is None else v + 30 for k, v in node.resources.items()}
        bigger = replace(node, resources=grown)
    nodes[which % len(nodes)] = bigger
    before = solve(instance)
    roomier = replace(instance, cluster=replace(instance.cluster, nodes=tuple(nodes)))
    after = solve(roomier)
    if before.status is Status.INFEASIBLE:
        event("was infeasible")
        return
    assert after.status is Status.OPTIMAL
    assert user_values(roomier, after) <= user_values(instance, before)


def user_values(instance: Instance, outcome: Outcome) -> tuple[object, ...]:
    """Return the terms in the user's units: the scale may change with a capacity."""
    assert outcome.placement is not None
    return tuple(term.value for term in judge(instance, outcome.placement).objective)


def two_nodes(tasks: int = 4, **rules: object) -> Instance:
    """`tasks` spouts of 10 points and one bolt, on two nodes of 30 points in two racks."""
    spout = Component("spout", "spout", tasks - 1, {"cpu": Decimal(10)})
    bolt = Component("bolt", "bolt", 1, {"cpu": Decimal(10)})
    topology = Topology("t", (spout, bolt), (Stream("spout", "bolt"),), **rules)  # type: ignore[arg-type]
    nodes = tuple(Node(f"n{i}", f"r{i}", slots=4, resources={"cpu": Decimal(30)}) for i in (1, 2))
    return Instance("two-nodes", Cluster(nodes), (topology,), objective=Objective(("network",)))


def test_hand_computed_optimum() -> None:
    # Three of the four tasks fit one node: two spouts in the bolt's worker (0), one far away (3).
    outcome = solve(two_nodes())
    assert outcome.status is Status.OPTIMAL
    assert outcome.values == outcome.bounds == (3,)
    assert "enumerated" in outcome.proof


def test_hand_computed_infeasible() -> None:
    outcome = solve(two_nodes(tasks=7))
    assert (outcome.status, outcome.placement, outcome.bounds) == (Status.INFEASIBLE, None, (None,))


def test_one_worker_each_costs_a_node_hop() -> None:
    # Two spouts beside the bolt in workers of their own: 1 each; the third: 3.
    assert solve(two_nodes(one_task_per_worker=True)).values == (5,)


def test_empty_topology_is_placed() -> None:
    instance = replace(two_nodes(), topologies=(Topology("t", ()),))
    assert solve(instance).values == (0,)


def test_stays_home_with_any_label() -> None:
    """A home label above the first free one is still offered, and kept apart from the others."""
    base = two_nodes(tasks=3, one_task_per_worker=True)
    running = {"t": {"spout[0]": Place("n2", 7), "spout[1]": Place("n2", 0)}}
    instance = replace(base, running=running, objective=Objective(("moved", "network")))
    outcome = solve(instance)
    assert outcome.values == (0, 2)
    assert outcome.placement is not None
    assert set(zip(outcome.placement.nodes[:2], outcome.placement.workers[:2], strict=True)) == {
        (1, 7),
        (1, 0),
    }


def alike(racks: str, matrix: tuple[tuple[int, ...], ...] | None = None) -> Instance:
    """A spout and a bolt that need a node each, on nodes alike but for rack and matrix."""
    base = two_nodes(tasks=2)
    nodes = tuple(
        Node(f"n{i}", rack, resources={"cpu": Decimal(10)}) for i, rack in enumerate(racks)
    )
    return replace(base, cluster=Cluster(nodes, matrix=matrix))  # type: ignore[arg-type]


def test_nodes_of_different_racks_are_no_twins() -> None:
    assert solve(alike("abb")).values == (2,)


def test_nodes_are_no_twins_under_a_matrix() -> None:
    assert solve(alike("aaa", ((0, 9, 9), (9, 0, 1), (9, 9, 0)))).values == (1,)


def test_hint_is_the_first_incumbent() -> None:
    instance = two_nodes()
    problem = compile_problem(instance)
    hint = solve(instance).placement
    limits = Limits(deterministic_work=1)
    outcome = EXHAUSTIVE.run(problem, limits, hint)
    assert (outcome.status, outcome.values) == (Status.FEASIBLE, (3,))
    assert outcome.bounds == (None,)
    assert EXHAUSTIVE.run(problem, Limits(), hint).status is Status.OPTIMAL


@pytest.mark.parametrize("node", [0, UNPLACED])
def test_hint_that_breaks_a_rule_is_ignored(node: int) -> None:
    problem = compile_problem(two_nodes())
    hint = Placement((node,) * 4, (node,) * 4)
    outcome = EXHAUSTIVE.run(problem, Limits(deterministic_work=1), hint)
    assert outcome.status is Status.UNKNOWN
    assert EXHAUSTIVE.run(problem, Limits(), hint).values == (3,)


def test_hint_with_a_topology_left_out() -> None:
    base = two_nodes()
    instance = replace(base, objective=Objective(("rejected", "network")))
    problem = compile_problem(instance)
    hint = from_places(instance, {})
    outcome = EXHAUSTIVE.run(problem, Limits(deterministic_work=0), hint)
    assert (outcome.status, outcome.values) == (Status.FEASIBLE, (1, 0))


def test_stops_at_its_limits() -> None:
    problem = compile_problem(two_nodes())
    assert EXHAUSTIVE.run(problem, Limits(time_s=1e-9), None).status is Status.UNKNOWN
    work = [EXHAUSTIVE.run(problem, Limits(deterministic_work=w), None) for w in (6, 10**6)]
    assert work[0].status is Status.FEASIBLE
    assert work[0].bounds == (None,)
    assert work[1].status is Status.OPTIMAL


def test_ctrl_c_keeps_the_incumbent(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, ticks = compile_problem(two_nodes()), itertools.count()
    reporter = null_reporter(problem, "exhaustive")

    def clock() -> float:
        if next(ticks) == 12:
            reporter.token.cancel()
        return 0.0

    monkeypatch.setattr(exhaustive, "CLOCK_EVERY", 1)
    monkeypatch.setattr(reporter.token, "now", clock)
    outcome = EXHAUSTIVE.run(problem, Limits(), None, reporter)
    assert outcome.interrupted
    assert outcome.status is Status.FEASIBLE
    assert outcome.bounds == (None,)


def test_says_why_it_is_too_large() -> None:
    assert EXHAUSTIVE.supports(compile_problem(two_nodes())) is None
    many = EXHAUSTIVE.supports(compile_problem(two_nodes(tasks=30)))
    assert many == "30 tasks; exhaustive search takes at most 14"
    different = tuple(Component(f"c{i}", "bolt", 1) for i in range(14))
    wide = replace(two_nodes(), topologies=(Topology("t", different),))
    reason = EXHAUSTIVE.supports(compile_problem(wide))
    assert reason is not None
    assert "placements of 14 tasks on 2 nodes" in reason


def test_ackers_are_tasks() -> None:
    with_acker = two_nodes(tasks=4, ackers=Ackers(3, resources={"cpu": Decimal(10)}))
    assert solve(with_acker).status is Status.INFEASIBLE


def test_minimum_cpu_makes_workers_dear() -> None:
    # A worker bills 20 points at least: one node holds one worker of up to three tasks, or one
    # of 10 and none besides; with one task per worker four tasks need four nodes.
    scheduler = Scheduler(worker_min_cpu=Decimal(20))
    together = replace(two_nodes(), scheduler=scheduler)
    apart = replace(two_nodes(one_task_per_worker=True), scheduler=scheduler)
    assert solve(together).values == (3,)
    assert solve(apart).status is Status.INFEASIBLE
