"""The exact engines on the same instances: samples by default, all of them in the deep run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from decimal import Decimal

import pytest

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.exhaustive.engine import EXHAUSTIVE
from slotwise.testing.agreement import Answer, disagreements
from slotwise.testing.engines_agree import Sweep, made, main
from slotwise.testing.panel import PANEL
from slotwise.testing.rule_coverage import RULES, rules_in
from slotwise.testing.tally import Tally

LIMITS = Limits(time_s=20.0)


FOUR = ("exhaustive", "configurations", "cp-sat", "milp")


def all_are_answered(tally: Tally) -> None:
    """Every engine settles all that it takes; the solver of doubles may end a step short."""
    short = {engine for engine, _ in tally.ended}
    assert short <= {"milp"}
    assert {engine for engine, _ in tally.refused} <= {"configurations", "milp"}
    for (engine, reason), _ in tally.refused.items():
        assert ("as a matrix" if engine == "configurations" else "floating point") in reason
    assert tally.settled["", "milp"] >= 0.9 * tally.instances
    for rule in RULES - {"symmetric matrix", "asymmetric matrix"}:
        assert tally.settled[rule, "configurations"] > 0 or not tally.count(rule)


def test_tiny_instances(note: list[str]) -> None:
    tally = Sweep("tiny", 1, range(60), FOUR, time_s=20.0).run()
    note += list(tally.lines())[-1:]
    assert tally.mismatches == []
    all_are_answered(tally)


@pytest.mark.parametrize("family", ["tiny", "presolve", "widely-scaled"])
def test_all_engines(family: str, note: list[str]) -> None:
    tally = Sweep(family, 2, range(1, 13), time_s=20.0).run()
    note += list(tally.lines())[-1:]
    assert tally.mismatches == []
    assert set(tally.seconds) == set(PANEL)
    for engine in ("exhaustive", "cp-sat", "auto", "auto-2"):
        assert tally.settled["", engine] == 12
    assert tally.settled["", "milp"] >= 10


def test_mid_size_instances(note: list[str]) -> None:
    three = ("cp-sat", "configurations", "milp")
    tally = Sweep("mid-size", 0, range(6), three, time_s=3.0).run()
    note += list(tally.lines())[-1:]
    assert tally.mismatches == []
    assert tally.by_count[3] + tally.by_count[2] >= 2, "four, were this machine alone"


def test_every_rule_occurs_with_and_without_a_placement() -> None:
    seen: Counter[tuple[str, Status]] = Counter()
    for number in range(400):
        instance = made("tiny", 0, number)
        outcome = EXHAUSTIVE.run(compile_problem(instance), LIMITS, None)
        seen.update((rule, outcome.status) for rule in rules_in(instance))
    assert min(seen[rule, Status.OPTIMAL] for rule in RULES) >= 15
    assert min(seen[rule, Status.INFEASIBLE] for rule in RULES) >= 3


def test_mid_size_instances_hold_rules_and_are_mid_size() -> None:
    instances = [made("mid-size", 0, number) for number in range(150)]
    assert all(15 <= len(i.task_names()) <= 40 for i in instances)
    assert all(4 <= len(i.cluster.nodes) <= 10 for i in instances)
    seen = Counter(rule for i in instances for rule in rules_in(i))
    left_out = {"ackers", "symmetric matrix", "asymmetric matrix", "generic resource", "decimals"}
    left_out |= {"unlimited capacity", "one task per worker", "parallelism 0", "rates"}
    left_out |= {"grouping all", "grouping global", "no slots", "unlimited slots"}
    left_out |= {"parallel streams"}
    assert min(seen[rule] for rule in RULES - left_out) >= 3


def pair() -> tuple[Problem, Outcome]:
    """Two tasks with a flow on two nodes: together on one node is best."""
    topology = Topology("t", (Component("a", "spout", 1), Component("b", "bolt", 1)))
    topology = replace(topology, streams=(Stream("a", "b"),))
    nodes = (Node("n1", "r"), Node("n2", "r", resources={"cpu": Decimal(0)}))
    problem = compile_problem(Instance("pair", Cluster(nodes), (topology,)))
    return problem, EXHAUSTIVE.run(problem, LIMITS, None)


def answer(outcome: Outcome, engine: str = "other") -> Answer:
    return Answer(engine, outcome, "", 0.0)


def test_the_truth_agrees_with_itself() -> None:
    problem, truth = pair()
    assert truth.values == (0, 0)
    assert disagreements(problem, [answer(truth), answer(truth, "again")]) == ()


APART = Placement((0, 1), (0, 0))
WRONG: dict[str, tuple[Outcome, str]] = {
    "worse optimum": (Outcome(Status.OPTIMAL, APART, (0, 2), (0, 2), ""), "optimal"),
    "no placement": (Outcome(Status.INFEASIBLE, None, None, (None, None), ""), "infeasible"),
    "false value": (Outcome(Status.FEASIBLE, APART, (0, 1), (0, 0), ""), "judge"),
    "false bound": (Outcome(Status.FEASIBLE, APART, (0, 2), (0, 1), ""), "bound 1"),
    "open bound": (Outcome(Status.OPTIMAL, APART, (0, 2), (0, 0), ""), "bounds"),
    "lost placement": (Outcome(Status.FEASIBLE, None, None, (0, None), ""), "placement"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_false_claim_is_found(case: str) -> None:
    problem, truth = pair()
    claim, words = WRONG[case]
    found = disagreements(problem, [answer(truth, "exhaustive"), answer(claim)])
    assert any(words in line for line in found), found


def test_a_placement_where_there_is_none_is_found() -> None:
    problem, truth = pair()
    none = Outcome(Status.INFEASIBLE, None, None, (None, None), "")
    open_end = replace(truth, status=Status.FEASIBLE, bounds=(0, None))
    found = disagreements(problem, [answer(none, "first"), answer(open_end)])
    assert any("where there is none" in line for line in found)


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "3", "--seed", "5"]) == 0
    shown = capsys.readouterr().out
    assert "several topologies" in shown
    assert "3 instances" in shown
    assert "0 mismatches" in shown
