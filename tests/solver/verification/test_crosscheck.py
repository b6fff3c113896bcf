"""A second engine checks the first: it agrees, finds better, contradicts, or comes to no end."""

from __future__ import annotations

import signal
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from conftest import EXAMPLES, Cli

import slotwise
from slotwise.api.solving import crosscheck as crosschecked
from slotwise.heuristics.ours import HEURISTICS
from slotwise.models.errors import InputError, InternalError
from slotwise.models.families.rstorm import RSTORM
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver import engines
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.not_taken import NotTakenError, UntakenError
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Limits, Outcome, Proof, Result, Status
from slotwise.solver.core.supervision import counted_presses
from slotwise.solver.solve import solve
from slotwise.solver.verification import crosscheck as crosscheck_module
from slotwise.solver.verification.crosscheck import (
    Agreement,
    Claim,
    claim_of,
    crosscheck,
    engines_behind,
)
from slotwise.testing.random_instances.tiny import tiny_instance

LIMITS = Limits(time_s=30.0)


def first_fit(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None
) -> Outcome:
    """Claim that round-robin is optimal."""
    found = HEURISTICS["round-robin"].place(problem, np.random.default_rng(0))
    assert isinstance(found, Placement)
    values = judge(problem, found).scaled
    return Outcome(Status.OPTIMAL, found, values, values, "none")


def never(problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter) -> Outcome:
    """Claim that nothing fits."""
    return Outcome(Status.INFEASIBLE, None, None, (None,) * len(problem.terms), "none")


def refuse(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None
) -> Outcome:
    raise NotTakenError("on second thoughts")


def engine(name: str, run: object) -> Engine:
    return Engine(name, run, lambda problem: None, lambda: "1")  # type: ignore[arg-type]


@pytest.fixture
def liars(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, run in (("first-fit", first_fit), ("never", never), ("refuse", refuse)):
        monkeypatch.setitem(engines.ENGINES, name, engine(name, run))


def word_count() -> Problem:
    return compile_problem(read_instance(EXAMPLES / "word-count.json"))


def test_engines_agree_on_any_instance() -> None:
    rng = np.random.default_rng(3)
    for _ in range(25):
        problem = compile_problem(tiny_instance(rng))
        result = solve(problem, engine="cp-sat", time_limit_s=30)
        check = crosscheck(problem, claim_of(result), LIMITS)
        assert check.agreement is Agreement.AGREED
        assert check.result is not None
        assert check.result.engine != "cp-sat"


@pytest.mark.usefixtures("liars")
def test_a_false_proof_is_an_internal_error_that_names_both() -> None:
    problem = word_count()
    result = solve(problem, engine="first-fit")
    assert result.status is Status.OPTIMAL
    message = r"exhaustive finds network 23, first-fit claims \d+ and bound \d+"
    with pytest.raises(InternalError, match=message):
        crosschecked(problem, result)


@pytest.mark.usefixtures("liars")
def test_false_infeasibility_is_an_internal_error_that_names_both() -> None:
    problem = word_count()
    with pytest.raises(InternalError, match="exhaustive says optimal, never says otherwise"):
        crosschecked(problem, solve(problem, engine="never"))


@pytest.mark.usefixtures("liars")
def test_false_infeasibility_of_the_second_engine_too() -> None:
    problem = word_count()
    claim = claim_of(solve(problem, engine="cp-sat"))
    check = crosscheck(problem, claim, LIMITS, engine="never")
    assert check.agreement is Agreement.CONTRADICTED


def unproven(problem: Problem) -> Result:
    result = solve(problem, engine="first-fit")
    objective = tuple(replace(term, bound=None) for term in result.objective)
    return replace(result, status=Status.FEASIBLE, objective=objective)


@pytest.mark.usefixtures("liars")
def test_better_than_what_was_not_proven_is_no_contradiction() -> None:
    problem = word_count()
    check = crosschecked(problem, unproven(problem))
    assert check is not None
    # Where nothing is claimed to be best, proving something better settles it as better.
    assert check.agreement is Agreement.BETTER
    assert "exhaustive finds network 23" in check.reason


def test_not_settled_within_the_limit() -> None:
    problem = compile_problem(RSTORM.make(4, 0))
    result = solve(problem, engine="configurations")
    check = crosscheck(problem, claim_of(result), Limits(time_s=0.3), engine="cp-sat")
    assert check.agreement is Agreement.NOT_SETTLED
    assert check.reason == "cp-sat did not finish within its limit"


@pytest.mark.usefixtures("liars")
def test_an_engine_that_refuses_while_running_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in set(engines.ENGINES) - {"cp-sat", "refuse"}:
        monkeypatch.delitem(engines.ENGINES, name)
    problem = word_count()
    check = crosscheck(problem, claim_of(solve(problem, engine="cp-sat")), LIMITS)
    assert check.agreement is Agreement.NOT_SETTLED
    assert check.reason == "no engine other than cp-sat takes the instance"


def test_engines_behind_are_those_that_proved_something() -> None:
    idle = Proof("configurations", "1", (None, None), "")
    busy = Proof("cp-sat", "1", (0, None), "search")
    assert engines_behind([idle, busy]) == ("cp-sat",)
    assert engines_behind([idle]) == ("configurations",)


def test_bounds_that_hold_are_said_apart_from_a_placement_that_is_not_the_best() -> None:
    problem = word_count()
    best = claim_of(solve(problem, engine="cp-sat", time_limit_s=30))
    placed = slotwise.place(problem, "round-robin")
    values = tuple(term.value for term in judge(problem, placed).objective)
    assert values != best.values
    check = crosscheck(problem, replace(best, placement=placed, values=values), LIMITS)
    assert check.agreement is Agreement.AGREED
    assert check.reason.startswith("exhaustive proves it too: the bounds hold; exhaustive finds ")


def test_the_command_says_so(examples: object, cli: Cli) -> None:
    answer = cli("solve", "word-count.json", "--crosscheck")
    assert answer.code == 0
    assert "Cross-check: agreed:" in answer.out
    document = cli("solve", "word-count.json", "--crosscheck", "--json").json
    assert document["crosscheck"]["agreement"] == "agreed"
    assert document["crosscheck"]["engine"] not in document["engine"].split("+")


@pytest.mark.parametrize("cpu", [180, 150])
def test_a_result_without_lost_nodes_is_checked_without_them(cpu: int) -> None:
    whole = read_instance(EXAMPLES / "machines.json")
    nodes = tuple(
        replace(node, resources={**node.resources, "cpu": Decimal(cpu)})
        for node in whole.cluster.nodes
    )
    given = replace(whole, cluster=replace(whole.cluster, nodes=nodes))
    asked: dict[str, Any] = {"without_nodes": ["m2"], "max_moved": 0}
    result = slotwise.solve(given, **asked)
    assert result.status is (Status.OPTIMAL if cpu == 180 else Status.INFEASIBLE)
    check = slotwise.crosscheck(given, result, **asked)
    assert check is not None
    assert check.agreement is Agreement.AGREED
    with pytest.raises(InputError, match="result: is of another instance"):
        slotwise.crosscheck(given, result, max_moved=0)


def test_no_answer_is_not_checked(tmp_path: object) -> None:
    problem = compile_problem(RSTORM.make(0, 0))
    result = solve(problem, engine="cp-sat", time_limit_s=1e-6)
    assert crosschecked(problem, result) is None


def test_ctrl_c_between_two_engines_ends_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def pressed(problem: Problem, claim: Claim, limits: Limits, name: str, time_s: float) -> Result:
        asked.append(name)
        signal.raise_signal(signal.SIGINT)
        raise UntakenError("not this one", field="engine", value=name)

    problem = word_count()
    claim = claim_of(solve(problem, engine="cp-sat", time_limit_s=30))
    monkeypatch.setattr(crosscheck_module, "_ask", pressed)
    check = crosscheck(problem, claim, LIMITS)
    assert len(asked) == 1
    assert check.agreement is Agreement.NOT_SETTLED
    assert check.result is None


def test_ctrl_c_that_ended_the_search_ends_the_check() -> None:
    problem = word_count()
    claim = claim_of(solve(problem, engine="cp-sat", time_limit_s=30))
    with counted_presses():
        signal.raise_signal(signal.SIGINT)
        check = crosscheck(problem, claim, LIMITS)
    assert (check.agreement, check.result) == (Agreement.NOT_SETTLED, None)
