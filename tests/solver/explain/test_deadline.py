"""An explanation goes on until its deadline, also where each search needs long; a clock of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Constraints, Topology
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Status
from slotwise.solver.explain import feasibility
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.explanation import Feasibility

RING = ("a", "b", "c", "d", "e")


def ring() -> Instance:
    """Return five components on a ring, neighbours apart: no counting shows two slots short."""
    pairs = tuple(zip(RING, (*RING[1:], "a"), strict=True))
    parts = tuple(Component(name, "spout", 1) for name in RING)
    topology = Topology("t", parts, constraints=Constraints(incompatible=pairs))
    return Instance("ring", Cluster((Node("n1", "r1", slots=2),)), (topology,))


@dataclass
class SlowSolver:
    """Needs `needed` seconds of a clock of its own for the first answer, and all it gets later."""

    needed: float
    now: float = 0.0
    asked: list[float] = field(default_factory=list)

    def perf_counter(self) -> float:
        return self.now

    def solve(self, problem: Problem, *, time_limit_s: float, **_: object) -> SimpleNamespace:
        knows = not self.asked and time_limit_s >= self.needed
        self.asked.append(time_limit_s)
        self.now += self.needed if knows else time_limit_s
        status = Status.INFEASIBLE if knows else Status.UNKNOWN
        return SimpleNamespace(status=status, placement=None, interrupted=False)


def slow(monkeypatch: pytest.MonkeyPatch, needed: float) -> SlowSolver:
    solver = SlowSolver(needed)
    monkeypatch.setattr(feasibility, "time", solver)
    monkeypatch.setattr(feasibility, "solve", solver.solve)
    return solver


def test_all_of_the_time_is_for_whether_there_is_a_placement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solver = slow(monkeypatch, needed=31.0)
    found = explain_infeasible(ring(), time_limit_s=30.0)
    assert found.status is Feasibility.UNDECIDED
    assert (solver.asked, found.seconds) == ([30.0], 30.0)


def test_what_was_proven_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else no conflict is found in the share of that question, and there is nothing to repair."""
    solver = slow(monkeypatch, needed=16.0)
    found = explain_infeasible(ring(), time_limit_s=30.0)
    assert found.status is Feasibility.INFEASIBLE
    assert solver.asked[0] == 30.0
    assert [one.minimal for one in found.conflicts] == [False]
    assert found.repairs
    assert not found.complete


def test_what_was_not_decided_in_its_share_gets_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow(monkeypatch, needed=16.0)
    found = explain_infeasible(ring(), time_limit_s=30.0)
    assert not found.complete
    assert found.seconds == pytest.approx(30.0)


def test_an_interrupt_of_a_part_ends_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = slow(monkeypatch, needed=16.0)
    interrupted = SimpleNamespace(status=Status.UNKNOWN, placement=None, interrupted=True)
    monkeypatch.setattr(feasibility, "solve", lambda problem, **_: interrupted)
    decider = feasibility.Decider(30.0)
    assert decider.until(0.5).decide(ring()).status is Feasibility.UNDECIDED
    assert solver.now == 0.0
    assert decider.is_over
