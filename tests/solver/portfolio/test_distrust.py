"""An engine that contradicts the judge is dropped and named; what solvers prove is confirmed."""

from __future__ import annotations

import threading
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from conftest import EXAMPLES

from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.errors import InternalError
from slotwise.models.infeasibility.contradictions import ResourceShort
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Topology
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver import engines
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.contradictions import COUNTING
from slotwise.solver.core.engine import Engine, Run
from slotwise.solver.core.judged_result import contradiction
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.core.solve_state import SolveState
from slotwise.solver.portfolio import attempt as confirm
from slotwise.solver.portfolio import auto
from slotwise.solver.portfolio.attempt import is_confirmation_due
from slotwise.solver.solve import solve
from slotwise.solver.verification.crosscheck import Agreement, claim_of, crosscheck

OPTIMUM = (0, 23)
"""Of the example word-count."""


@pytest.fixture
def problem() -> Problem:
    return compile_problem(read_instance(EXAMPLES / "word-count.json"))


def first_fit(problem: Problem) -> Placement:
    found = HEURISTICS["round-robin"].place(problem, np.random.default_rng(0))
    assert isinstance(found, Placement)
    return found


def calls_it_optimal(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Claim that the hint, or the first placement, is optimal."""
    found = hint or first_fit(problem)
    values = judge(problem, found).scaled
    return Outcome(Status.OPTIMAL, found, values, values, "none", by_solver=True)


def calls_it_optimal_with_presolve(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    if limits.presolve:
        return calls_it_optimal(problem, limits, hint, reporter)
    return Outcome(Status.UNKNOWN, None, None, (None,) * len(problem.terms), "")


def calls_it_infeasible(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    return Outcome(Status.INFEASIBLE, None, None, (None,) * len(problem.terms), "none")


def claims_too_little(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    found = first_fit(problem)
    values = tuple(value - 1 for value in judge(problem, found).scaled)
    return Outcome(Status.OPTIMAL, found, values, values, "none")


def bounds_too_much(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    bounds = (0, 1000)
    if reporter is not None:
        reporter.prove(bounds)
    return Outcome(Status.UNKNOWN, None, None, bounds, "none")


def breaks(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    raise InternalError("liar contradicts itself: 3 and 4")


def shows_nothing(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    return Outcome(Status.OPTIMAL, None, None, (0, 23), "none")


LIARS = {
    run.__name__: run
    for run in (calls_it_infeasible, claims_too_little, bounds_too_much, breaks, shows_nothing)
}


def liar(run: Run) -> Engine:
    return Engine("liar", run, lambda problem: None, lambda: "1")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", LIARS)
def test_auto_drops_a_contradicted_engine_and_names_it(
    problem: Problem, name: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "CONFIGURATIONS", liar(LIARS[name]))
    result = solve(problem, time_limit_s=30, workers=workers)
    assert result.status is Status.OPTIMAL
    assert tuple(term.value for term in result.objective) == OPTIMUM
    assert [one.engine for one in result.distrusted] == ["liar"]
    assert result.to_document()["distrusted"] == [
        {"engine": "liar", "reason": result.distrusted[0].reason}
    ]
    assert all(proof.engine != "liar" for proof in result.proofs)


def names_a_wrong_contradiction(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Claim that cpu is short, which it is not."""
    bounds = (None,) * len(problem.terms)
    return Outcome(
        Status.INFEASIBLE, None, None, bounds, "none", contradiction=ResourceShort("cpu")
    )


def test_auto_drops_a_contradiction_that_does_not_hold(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "COUNTING", replace(COUNTING, run=names_a_wrong_contradiction))
    result = solve(problem, time_limit_s=30)
    assert result.status is Status.OPTIMAL
    assert tuple(term.value for term in result.objective) == OPTIMUM
    assert [one.engine for one in result.distrusted] == ["counting"]
    assert "does not hold" in result.distrusted[0].reason


def test_an_engine_whose_contradiction_does_not_hold_is_an_internal_error(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENGINES, "liar", liar(names_a_wrong_contradiction))
    with pytest.raises(InternalError, match=r"liar: the contradiction .* does not hold"):
        solve(problem, engine="liar", time_limit_s=30)


@pytest.mark.parametrize(
    "name", ["claims_too_little", "bounds_too_much", "breaks", "shows_nothing"]
)
def test_alone_it_is_an_internal_error_that_names_both_numbers(
    problem: Problem, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENGINES, "liar", liar(LIARS[name]))
    with pytest.raises(InternalError, match=r"liar (.*\d+.*\d+|says optimal without a placement)"):
        solve(problem, engine="liar", hint=first_fit(problem), time_limit_s=30)


def test_infeasible_beside_a_valid_hint_is_an_internal_error(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENGINES, "liar", liar(calls_it_infeasible))
    with pytest.raises(InternalError, match="liar reports infeasible, but there is a placement"):
        solve(problem, engine="liar", hint=first_fit(problem), time_limit_s=30)


def test_a_placement_takes_the_bounds_of_whoever_it_contradicts(problem: Problem) -> None:
    known = SolveState(problem)
    known.prove([0, 900], "liar", "liar")
    known.prove([0, 20], "honest", "honest")
    known.prove([0, 950], "sum", "liar+honest")
    assert known.bounds == (0, None), "bounds of later terms count once earlier ones are reached"
    known.offer(first_fit(problem), "us")
    assert known.trust.is_doubted("liar")
    assert known.bounds[0] is None or known.bounds[0] <= 0
    assert "900" in known.trust.distrusted()[0].reason
    known.prove([0, 21], "other", "other")
    assert known.bounds == (0, 21)


def test_what_is_known_is_read_at_one_moment(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    better = solve(problem, time_limit_s=30).placement
    assert better is not None
    worse = first_fit(problem)
    known = SolveState(problem)
    known.offer(worse, "us")
    known.prove(judge(problem, better).scaled, "exact", "exact")
    read = SolveState._proofs
    offering = threading.Thread(target=known.offer, args=(better, "other"))

    def interrupted(self: SolveState, confirmed: bool) -> object:
        if not offering.ident:
            offering.start()
            offering.join(0.3)  # ends only where reading holds no lock
        return read(self, confirmed)

    monkeypatch.setattr(SolveState, "_proofs", interrupted)
    outcome = known.outcome()
    offering.join()
    assert outcome.placement is not None
    assert contradiction("known", outcome, judge(problem, outcome.placement)) is None
    assert outcome.status is Status.FEASIBLE
    assert known.outcome().status is Status.OPTIMAL


def test_a_wrong_proof_is_found_by_confirmation(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "CONFIGURATIONS", liar(calls_it_optimal_with_presolve))
    wrong = solve(problem, time_limit_s=30, confirm=False)
    assert wrong.status is Status.OPTIMAL
    assert wrong.objective[1].value != OPTIMUM[1], "the lie goes through where nobody confirms"
    result = solve(problem, time_limit_s=30, confirm=True)
    assert result.status is Status.OPTIMAL
    assert result.confirmed
    assert tuple(term.value for term in result.objective) == OPTIMUM
    assert [one.engine for one in result.distrusted] == ["liar"]


def test_a_wrong_proof_of_an_engine_alone_is_an_internal_error(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENGINES, "liar", liar(calls_it_optimal_with_presolve))
    with pytest.raises(InternalError, match=r"liar claims the bound \d+ of network; the judge"):
        solve(problem, engine="liar", confirm=True, time_limit_s=30)


def test_without_confirmation_it_is_feasible_with_the_last_confirmed_bound(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENGINES, "liar", liar(calls_it_optimal_with_presolve))
    monkeypatch.setattr(confirm, "CONFIRMING_ENGINES", ())
    result = solve(problem, engine="liar", confirm=True, time_limit_s=30)
    assert result.status is Status.FEASIBLE
    assert not result.confirmed
    assert [term.bound for term in result.objective] == [0, 0], "these need no solver"
    picked = [pick.engine for pick in result.picked]
    assert picked == ["liar", "liar without presolve"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["cp-sat", "milp", "auto", "exhaustive"])
def test_proofs_are_confirmed(problem: Problem, engine: str) -> None:
    result = solve(problem, engine=engine, confirm=True, time_limit_s=60)
    assert result.status is Status.OPTIMAL
    assert result.confirmed
    assert not result.distrusted
    picked = [pick.engine for pick in result.picked]
    needs_second = engine in ("cp-sat", "milp")
    assert (f"{engine} without presolve" in picked) == needs_second


def test_infeasibility_is_confirmed() -> None:
    problem = compile_problem(read_instance(EXAMPLES / "too-big.json"))
    result = solve(problem, engine="cp-sat", confirm=True, time_limit_s=30)
    assert result.status is Status.INFEASIBLE
    assert result.confirmed


def test_large_terms_are_confirmed_unless_the_user_says_no(problem: Problem) -> None:
    assert not is_confirmation_due(problem, "milp")
    assert not solve(problem, time_limit_s=30).confirmed
    costs = [LinearCost("t/x[0]", "n1", Decimal(2**31)), LinearCost("t/x[0]", "n2", Decimal(1))]
    large = compile_problem(
        Instance(
            "large",
            Cluster((Node("n1", "r1"), Node("n2", "r1"))),
            (Topology("t", (Component("x", "bolt", 1),)),),
            linear=tuple(costs),
            objective=Objective(("linear",)),
        )
    )
    assert is_confirmation_due(large, "auto")
    assert solve(large, engine="cp-sat", time_limit_s=30).confirmed
    assert not solve(large, engine="cp-sat", confirm=False, time_limit_s=30).confirmed


def test_a_crosscheck_that_breaks_is_a_contradiction(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines.ENGINES, "liar", liar(breaks))
    claim = claim_of(solve(problem, engine=CP_SAT.name, time_limit_s=30))
    check = crosscheck(problem, claim, Limits(time_s=30.0), engine="liar")
    assert check.agreement is Agreement.CONTRADICTED
    assert "3 and 4" in check.reason
