"""An engine declines, by name, each rule and part of the objective that it does not declare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from assignments import document

from slotwise.models.instance.instance import TERM_PARTS
from slotwise.models.instance_file import instance_from_data
from slotwise.models.judge.rules import RULES, Rule, used_rules
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem, Term
from slotwise.solver import exhaustive
from slotwise.solver.compact import constraints
from slotwise.solver.core.declared_rules import unknown
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.not_taken import UntakenError
from slotwise.solver.engines import ENGINES
from slotwise.solver.large_neighbourhood import LARGE_NEIGHBOURHOOD
from slotwise.solver.local_search.engine import LOCAL_SEARCH
from slotwise.solver.presolve.node_reduction import reduce_nodes
from slotwise.solver.presolve.rack_cut import only_distances_tell_racks_apart
from slotwise.solver.solve import solve
from slotwise.testing.choices import FromRng
from slotwise.testing.random_instances.tiny import simplified, tiny_instance

SEED = 20261124
ALL = (*ENGINES.values(), LARGE_NEIGHBOURHOOD, LOCAL_SEARCH)


def problems() -> Iterator[Problem]:
    """Tiny problems of every rule, simpler ones, and a plain assignment."""
    for number in range(120):
        rng = np.random.default_rng((SEED, number))
        instance = tiny_instance(rng)
        yield compile_problem(simplified(FromRng(rng), instance) if number % 2 else instance)
    levels = {"distance": [[0, 5, 5], [5, 0, 5], [5, 5, 0]]}
    yield compile_problem(
        instance_from_data(document(np.random.default_rng(3), 5, 3, 0.8) | levels)
    )


@pytest.fixture
def sundays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that every problem has, and that no engine declares."""
    monkeypatch.setitem(RULES, "sundays", Rule("sundays", lambda problem: True))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ALL, ids=lambda engine: engine.name)
def test_no_engine_takes_a_rule_that_it_does_not_declare(engine: Engine, sundays: None) -> None:
    assert all(engine.supports(problem) is not None for problem in problems())


def test_reductions_leave_a_problem_with_a_rule_that_they_do_not_declare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    several = [one for one in problems() if len(reduce_nodes(one).nodes) < one.node_count]
    racks = [one for one in problems() if only_distances_tell_racks_apart(one)]
    assert several
    assert racks
    monkeypatch.setitem(RULES, "sundays", Rule("sundays", lambda problem: True))
    assert all(len(reduce_nodes(one).nodes) == one.node_count for one in several)
    assert not any(only_distances_tell_racks_apart(one) for one in racks)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ALL, ids=lambda engine: engine.name)
def test_no_engine_takes_a_part_that_it_does_not_declare(engine: Engine) -> None:
    energy = (Term("energy", (("energy", 1),), Fraction(1)),)
    assert all(engine.supports(replace(one, terms=energy)) is not None for one in problems())


@pytest.mark.slow
@pytest.mark.parametrize("engine", ALL, ids=lambda engine: engine.name)
def test_what_it_takes_has_only_rules_that_it_declares(
    engine: Engine, request: pytest.FixtureRequest
) -> None:
    reasons = {engine.supports(problem) for problem in problems()}
    if None not in reasons:
        assert engine.name in ("few-moves", "orphans"), "they take what runs"
        return
    taken = [problem for problem in problems() if engine.supports(problem) is None]
    request.getfixturevalue("sundays")
    assert {engine.supports(one) for one in taken} == {"it does not know the rule 'sundays'"}


@pytest.mark.parametrize("name", ["auto", "cp-sat", "milp", "exhaustive"])
def test_the_error_names_the_engine_and_the_rule(name: str, sundays: None) -> None:
    with pytest.raises(UntakenError, match=f"{name}.* the rule 'sundays'"):
        solve(next(problems()), engine=name)


@pytest.mark.parametrize("known", [constraints.RULES, exhaustive.RULES])
def test_engines_for_every_problem_declare_every_rule(known: frozenset[str]) -> None:
    """A misspelt name would decline instances."""
    assert known == frozenset(RULES)


def test_each_rule_is_used_by_some_problem() -> None:
    used = {rule for problem in problems() for rule in used_rules(problem)}
    assert used >= set(RULES) - {"max_moved"}


def test_what_is_not_known_is_named() -> None:
    problem = next(problems())
    assert unknown(problem, RULES, TERM_PARTS) is None
    assert unknown(problem, (), TERM_PARTS) == "it does not know the rule 'placed'"
    part = problem.terms[0].parts[0][0]
    assert unknown(problem, RULES, ()) == f"it does not know the part {part!r} of the objective"
