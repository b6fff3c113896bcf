"""Storm's evictions and refusals, and the exact ones."""

from __future__ import annotations

import json

import pytest

from slotwise.benchmarks.experiments.catalogue import run_experiment
from slotwise.benchmarks.experiments.storm import evictions as ras_choices
from slotwise.benchmarks.experiments.storm.evictions import EvictionTally, arrivals, compare, lines
from slotwise.heuristics.ras.scheduler import DecisionOutcome, schedule_rounds
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.admission.exact_round import exact_counterparts
from slotwise.solver.core.result import Limits, Status


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ras_choices, "NODES", 3)
    monkeypatch.setattr(ras_choices, "LAST", 7)


@pytest.mark.slow
@pytest.mark.parametrize("index", range(3))
def test_the_exact_choice_is_never_worse(index: int) -> None:
    """What Storm does is among the choices: evicting no more, no worse set."""
    for done in schedule_rounds(arrivals(index, 0)):
        assert judge(compile_problem(done.instance), done.placement).valid
        exact = exact_counterparts(done, Limits(3.0))
        assert exact.best.cost <= exact.cost
        for answer in exact.answers:
            assert answer.eviction is not None
            if answer.decision.outcome is DecisionOutcome.SCHEDULED:
                assert answer.eviction.status is Status.OPTIMAL
                assert len(answer.eviction.evicted or ()) <= len(answer.decision.evicted)


def test_same_seed_same_clusters() -> None:
    first, again, other = (list(arrivals(3, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_counts_add_up() -> None:
    rounds = list(schedule_rounds(arrivals(0, 0)))
    total = sum((compare(done, Limits(3.0)) for done in rounds), EvictionTally())
    busy = [d for done in rounds for d in done.decisions if d.evicted or d.outcome == "refused"]
    assert total.let_in + total.refused + total.open >= len(busy)
    assert total.evicted >= total.least
    assert total.fits + total.fits_by_eviction <= total.refused


def test_as_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_experiment("ras_choices", ["--count", "1", "--time-limit", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rounds"] > 0
    first, *_ = lines(EvictionTally(**found))
    assert first == f"{found['rounds']} rounds with evictions or refusals."
