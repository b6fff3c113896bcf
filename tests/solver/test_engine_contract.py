"""What every exact engine promises, whatever its way of searching.

The promises are those of `Run`, `Limits`, `Outcome` and `solve`. `EXHAUSTIVE` is the truth here;
`test_exhaustive` compares it with plain enumeration.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import count, islice
from typing import Any

import numpy as np
import pytest
from assignments import document
from hard_instances import hard_instance

from slotwise.benchmarks.experiments.agreement.panel import Answer, disagreements
from slotwise.benchmarks.experiments.proofs.running_clusters import running_clusters
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, to_places
from slotwise.models.instance_file import instance_from_data, instance_from_text
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.engine import Engine
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError, UntakenError
from slotwise.solver.core.reporter import null_reporter
from slotwise.solver.core.result import Limits, Outcome, Status
from slotwise.solver.core.supervision import Task
from slotwise.solver.engines import ENGINES
from slotwise.solver.exhaustive import EXHAUSTIVE
from slotwise.solver.solve import solve
from slotwise.testing.choices import FromRng
from slotwise.testing.random_instances.tiny import simplified, tiny_instance

SEED = 20261124
DRAWN, RUNNING = 180, 30
TAKEN = 20
"""Drawn instances that are solved by each engine that takes them."""

LIMITS = Limits(time_s=60.0, workers=1, seed=3)
LONG_S = 60.0
"""Far more than an engine may take to end once it is told to."""


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> Engine:
    return ENGINES[request.param]


@cache
def drawn() -> tuple[Problem, ...]:
    """Tiny problems of every rule, simpler ones, and some that run, so that every engine takes
    enough of them.
    """
    of_all_rules = (_drawn(number) for number in range(DRAWN))
    running = (*islice(_running(), RUNNING), *islice(_orphaned(), RUNNING))
    return tuple(map(compile_problem, (*of_all_rules, *running)))


def _running() -> Iterator[Instance]:
    """Tiny instances in which every task runs, and few may move."""
    for number in count(DRAWN):
        instance = tiny_instance(np.random.default_rng((SEED, number)))
        free = replace(instance, running=None, objective=Objective(("nodes",)))
        start = EXHAUSTIVE.run(compile_problem(free), LIMITS, None).placement
        if start is None or UNPLACED in start.nodes or not start.nodes:
            continue
        objective = Objective(("network",), limits={"moved": number % 4})
        yield replace(instance, running=to_places(instance, start), objective=objective)


def _orphaned() -> Iterator[Instance]:
    """The same with a task that runs nowhere, and nothing that may move."""
    for instance in _running():
        assert instance.running is not None
        topology, places = next(iter(instance.running.items()))
        left = {**instance.running, topology: dict(list(places.items())[1:])}
        if any(left.values()):
            objective = Objective(("network",), limits={"moved": 0})
            yield replace(instance, running=left, objective=objective)


def _drawn(number: int) -> Instance:
    rng = np.random.default_rng((SEED, number))
    if number % 3 == 2:
        nodes = int(rng.integers(2, 4))
        load = float(rng.uniform(0.5, 1.3))
        costs = {"linear": None} if number % 2 else {}  # without: a partition into equal parts
        return instance_from_data(document(rng, 5, nodes, load) | one_distance(nodes) | costs)
    instance = tiny_instance(rng)
    return simplified(FromRng(rng), instance) if number % 3 else instance


@cache
def truth(number: int) -> Outcome:
    return EXHAUSTIVE.run(drawn()[number], LIMITS, None)


@cache
def claims(name: str) -> dict[int, Outcome]:
    """What an engine says of the first `TAKEN` problems that it takes, by their numbers."""
    return dict(islice(_taken(ENGINES[name]), TAKEN))


def _taken(engine: Engine) -> Iterator[tuple[int, Outcome]]:
    for number, problem in enumerate(drawn()):
        if engine.supports(problem) is None:
            with suppress(NotTakenError):  # seen while it runs; `solve` tells the reason
                yield number, engine.run(problem, LIMITS, None)


def _with_many_orphans() -> Instance:
    """A cluster on which a quarter of the tasks run and may not move."""
    instance = next(running_clusters(0))
    assert instance.running is not None
    some = dict(list(instance.running["t"].items())[::4])
    objective = Objective(("network",), limits={"moved": 0})
    return replace(instance, running={"t": some}, objective=objective)


def hard(engine: Engine) -> Problem:
    """A problem that the engine takes and does not close in a second."""
    rng = np.random.default_rng(8)
    offers = (
        instance_from_text(hard_instance()),
        instance_from_data(document(rng, 40, 8, 0.9)),
        instance_from_data(document(rng, 22, 5, 0.8) | one_distance(5)),
        instance_from_data(document(rng, 12, 2, 0.8)),
        instance_from_data(document(rng, 24, 5, 0.9) | one_distance(5) | {"linear": None}),
        replace(
            next(islice(running_clusters(0), 2, None)),
            objective=Objective(("network",), limits={"moved": 7}),
        ),
    )
    problems = map(compile_problem, (*offers, _with_many_orphans()))
    return next(problem for problem in problems if engine.supports(problem) is None)


def one_distance(nodes: int) -> dict[str, Any]:
    """Return the distances of a flat network."""
    return {"distance": [[5 * (i != j) for j in range(nodes)] for i in range(nodes)]}


def check_claim(problem: Problem, claim: Outcome) -> None:
    """A claim is what the judge says of its placement, and no bound is above its value."""
    assert len(claim.bounds) == len(problem.terms)
    if claim.placement is None:
        assert claim.values is None
        assert claim.status in (Status.INFEASIBLE, Status.UNKNOWN)
        return
    verdict = judge(problem, claim.placement)
    assert verdict.violations == ()
    assert verdict.scaled == claim.values
    assert (claim.status is Status.OPTIMAL) == (claim.bounds == claim.values)
    open_terms = [i for i, b in enumerate(claim.bounds) if b != claim.values[i]]
    if open_terms:
        bound = claim.bounds[open_terms[0]]
        assert bound is None or bound < claim.values[open_terms[0]]
        assert set(claim.bounds[open_terms[0] + 1 :]) <= {None}


def test_the_name_is_the_key_and_the_version_is_told() -> None:
    assert [engine.name for engine in ENGINES.values()] == list(ENGINES)
    assert all(engine.version().strip() for engine in ENGINES.values())


@pytest.mark.slow
def test_claims_are_what_the_judge_says(engine: Engine) -> None:
    found = claims(engine.name)
    assert len(found) == TAKEN
    for number, claim in found.items():
        check_claim(drawn()[number], claim)


def test_claims_agree_with_exhaustive_search(engine: Engine) -> None:
    """Bounds hold, optima are optima, and infeasible is what has no placement."""
    statuses = []
    for number, claim in claims(engine.name).items():
        answers = [Answer("truth", truth(number), "", 0.0), Answer(engine.name, claim, "", 0.0)]
        assert disagreements(drawn()[number], answers) == (), number
        statuses.append(claim.status)
    assert statuses.count(Status.OPTIMAL) >= TAKEN // 2
    if engine.name != "connected":  # it says so only where a task fits nowhere
        assert Status.INFEASIBLE in statuses


@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer(engine: Engine) -> None:
    for number, first in claims(engine.name).items():
        again = engine.run(drawn()[number], LIMITS, None)
        assert replace(again, trace=()) == replace(first, trace=()), number


def test_a_seed_may_have_more_than_31_bits(engine: Engine) -> None:
    """Some solvers take no more; `solve` takes seeds up to 10^15."""
    taken = (problem for problem in drawn() if engine.supports(problem) is None)
    for problem in islice(taken, 5):
        with suppress(NotTakenError):
            check_claim(problem, engine.run(problem, replace(LIMITS, seed=10**15), None))


@pytest.mark.slow
def test_presolve_changes_no_optimum(engine: Engine) -> None:
    for number, claim in claims(engine.name).items():
        plain = engine.run(drawn()[number], replace(LIMITS, presolve=False), None)
        check_claim(drawn()[number], plain)
        answers = [Answer("with", claim, "", 0.0), Answer("without", plain, "", 0.0)]
        assert disagreements(drawn()[number], answers) == (), number
        assert (plain.status, plain.values) == (claim.status, claim.values), number


@pytest.mark.slow
def test_a_valid_hint_is_never_made_worse(engine: Engine) -> None:
    """Not even the best one, whether there is time to search or none."""
    hints = 0
    for number in claims(engine.name):
        problem, best = drawn()[number], truth(number)
        if best.placement is None:
            continue
        hints += 1
        for time_s in (1e-6, 60.0):
            claim = solve(problem, engine=engine.name, time_limit_s=time_s, hint=best.placement)
            assert claim.placement is not None
            assert judge(problem, claim.placement).scaled == best.values, number
    assert hints >= TAKEN // 2


def test_a_search_from_a_hint_proves_the_same(engine: Engine) -> None:
    for number, claim in islice(claims(engine.name).items(), TAKEN // 2):
        problem, best = drawn()[number], truth(number)
        hinted = engine.run(problem, LIMITS, best.placement)
        check_claim(problem, hinted)
        if claim.status is Status.OPTIMAL:
            assert (hinted.status, hinted.values) == (claim.status, claim.values), number


def test_what_is_not_taken_is_refused_with_its_reason(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons = [(problem, engine.supports(problem)) for problem in drawn()]
    assert all(reason is None or reason.strip() for _, reason in reasons)
    declined = [(problem, reason) for problem, reason in reasons if reason is not None]
    for problem, reason in declined[:3]:
        assert "\n" not in reason
        with pytest.raises(UntakenError, match="does not take this instance") as caught:
            solve(problem, engine=engine.name)
        assert reason in str(caught.value)
    picky = replace(engine, supports=lambda problem: "only on Sundays")
    monkeypatch.setitem(ENGINES, engine.name, picky)
    with pytest.raises(UntakenError, match=f"{engine.name}.*only on Sundays; use auto"):
        solve(drawn()[0], engine=engine.name)


def test_what_is_seen_too_late_to_be_taken_is_refused_alike(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*given: object) -> Outcome:
        raise NotTakenError("a cycle of three")

    late = replace(engine, run=run, supports=lambda problem: None)
    monkeypatch.setitem(ENGINES, engine.name, late)
    with pytest.raises(UntakenError, match="does not take this instance: a cycle of three"):
        solve(drawn()[0], engine=engine.name)


def test_a_short_time_limit_gives_a_result(engine: Engine) -> None:
    problem = hard(engine)
    result = solve(problem, engine=engine.name, time_limit_s=0.05)
    assert result.status in (Status.FEASIBLE, Status.UNKNOWN), "it was to be too hard"
    assert not result.interrupted
    assert result.limits.time_s == 0.05
    if result.placement is not None:
        assert judge(problem, result.placement).valid


@pytest.mark.slow
def test_a_stop_request_ends_the_search(engine: Engine) -> None:
    """It returns what it has, or raises `CancelledError` where it has nothing."""
    problem = hard(engine)
    ended = threading.Event()

    def run(token: RunToken) -> Outcome:
        reporter = null_reporter(problem, engine.name, token)
        return engine.run(problem, Limits(time_s=600.0), None, reporter)

    task = Task(run, ended.set, RunToken())
    assert not ended.wait(0.3), "it was to be too hard"
    task.token.cancel()
    assert ended.wait(LONG_S), "it does not hear"
    claim = task.answer()
    if claim is not None:
        assert claim.interrupted
        assert claim.status in (Status.FEASIBLE, Status.UNKNOWN)
        check_claim(problem, claim)
