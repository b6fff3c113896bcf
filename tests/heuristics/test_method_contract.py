"""What every method owes: an answer of the right shape, the same for the same seed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from conftest import DEEP
from hypothesis import given

from slotwise.heuristics.method import Method, supports_all
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.families.registry import FAMILIES
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.testing import instances
from slotwise.testing.random_instances.tiny import tiny_instance

WITHOUT_A_PROCESS = [one for one in HEURISTICS.values() if one.name != "kahip"]
"""Methods that a property asks hundreds of times; KaHIP starts a process each time."""

EMPTY = Instance("empty", Cluster((Node("n", "r"),)), ())


@pytest.fixture(params=sorted(HEURISTICS))
def method(request: pytest.FixtureRequest) -> Method:
    """Each built-in method."""
    return HEURISTICS[str(request.param)]


@cache
def problems() -> list[Problem]:
    """Return an empty, every R-Storm and some random problems."""
    tiny = [tiny_instance(np.random.default_rng(seed)) for seed in range(30 if DEEP else 12)]
    return [compile_problem(one) for one in (EMPTY, *FAMILIES["rstorm"].generate(), *tiny)]


def test_the_name_is_the_key() -> None:
    assert {name: method.name for name, method in HEURISTICS.items()} == {
        name: name for name in HEURISTICS
    }
    assert all(method.source for method in HEURISTICS.values())


@pytest.mark.slow
def test_answers_are_of_the_right_shape_and_the_same_for_the_same_seed(method: Method) -> None:
    kinds = set()
    some = problems() if method in WITHOUT_A_PROCESS else problems()[::5]
    for problem in some:
        reason = method.supports(problem)
        assert reason is None or reason.strip()
        answers = [run_method(problem, method, 7) for _ in range(2)]
        assert answers[0] == answers[1]
        kinds.add(type(answers[0]))
        if isinstance(answers[0], Refusal):
            assert answers[0].reason.strip()
            assert "\n" not in answers[0].reason
        else:
            judge(problem, answers[0])
    assert Placement in kinds


@pytest.mark.slow
@given(instances(wide_numbers=True))
def test_every_task_of_a_topology_is_placed_or_none(instance: Instance) -> None:
    problem = compile_problem(instance)
    for method in WITHOUT_A_PROCESS:
        answer = run_method(problem, method, 0)
        if isinstance(answer, Placement):
            broken = {violation.rule for violation in judge(problem, answer).violations}
            assert "placed" not in broken


@pytest.mark.slow
@given(instances(wide_numbers=True))
def test_a_method_does_not_change_the_problem(instance: Instance) -> None:
    problem = compile_problem(instance)
    before = compile_problem(instance)
    for method in WITHOUT_A_PROCESS:
        run_method(problem, method, 0)
    for one, other in ((problem.capacity, before.capacity), (problem.demand, before.demand)):
        assert (one == other).all()
    assert problem.instance == before.instance


def test_a_method_that_does_not_apply_refuses_with_its_reason(method: Method) -> None:
    picky = replace(method, supports=lambda problem: "only on Sundays")
    assert run_method(compile_problem(EMPTY), picky, 0) == Refusal("only on Sundays")


@pytest.mark.parametrize("answer", [None, Placement((0,), (0,)), Placement((5, 0), (0, 0))])
def test_an_answer_of_the_wrong_shape_is_named(answer: object, method: Method) -> None:
    problem = compile_problem(next(FAMILIES["rstorm"].generate(1)))
    wrong = replace(method, place=lambda problem, rng: answer, supports=supports_all)
    with pytest.raises(InputError, match=f"answer of {method.name}"):
        run_method(problem, wrong, 0)


def test_a_node_that_does_not_exist_is_named(method: Method) -> None:
    problem = compile_problem(next(FAMILIES["rstorm"].generate(1)))
    nodes = (problem.node_count,) * problem.task_count
    wrong = replace(method, place=lambda *_: Placement(nodes, nodes), supports=supports_all)
    with pytest.raises(InputError, match="number of nodes"):
        run_method(problem, wrong, 0)


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_a_seed_is_a_whole_number(seed: int, method: Method) -> None:
    with pytest.raises(InputError, match="seed"):
        run_method(compile_problem(EMPTY), method, seed)


class NoGenerator:
    """Stands for a generator that nobody may ask."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"asked its generator for {name}")


def test_methods_that_do_not_draw_never_ask_their_generator(method: Method) -> None:
    for problem in problems():
        if method.supports(problem) is None and not method.draws:
            method.place(problem, NoGenerator())  # type: ignore[arg-type]


def test_some_methods_draw_and_some_do_not() -> None:
    assert {HEURISTICS[name].draws for name in ("hash", "ldg", "stromax-bootstrap")} == {True}
    assert {HEURISTICS[name].draws for name in ("r-storm", "ras-default", "round-robin")} == {False}
