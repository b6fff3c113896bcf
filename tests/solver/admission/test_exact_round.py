"""The exact counterparts of a round stop at Ctrl-C and keep what they have."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

from slotwise.heuristics.ras.scheduler import schedule_round
from slotwise.models.instance_file import read_instance
from slotwise.solver.admission import exact_round
from slotwise.solver.admission import topology_selection as best_set_module
from slotwise.solver.admission.eviction import Eviction, smallest_eviction
from slotwise.solver.admission.exact_round import exact_counterparts
from slotwise.solver.admission.topology_selection import BestSet, best_set
from slotwise.solver.core.result import Limits


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Interrupt every search of an eviction; return whom it was asked for."""
    found: list[int] = []

    def interrupted(*words: Any) -> Eviction:
        found.append(words[2])
        return replace(smallest_eviction(*words), interrupted=True)

    monkeypatch.setattr(exact_round, "smallest_eviction", interrupted)
    monkeypatch.setattr(best_set_module, "smallest_eviction", interrupted)
    return found


def test_ctrl_c_while_the_best_set_is_sought(examples: Path, asked: list[int]) -> None:
    done = schedule_round(read_instance("shared-cluster.yaml"))
    exact = exact_counterparts(done, Limits(10.0))
    assert exact.interrupted
    assert len(asked) == 1
    assert exact.answers == ()
    assert exact.best.cost == exact.cost


def test_ctrl_c_between_two_evictions(
    examples: Path, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(best_set_module, "smallest_eviction", smallest_eviction)
    done = schedule_round(read_instance("shared-cluster.yaml"))
    exact = exact_counterparts(done, Limits(10.0))
    assert exact.interrupted
    assert asked == [3]
    assert [answer.eviction is not None for answer in exact.answers] == [True]


def test_the_signal_itself_ends_a_round_and_nothing_is_lost(
    examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was raised through what the search had found."""

    def pressed(*words: Any, **options: Any) -> BestSet:
        signal.raise_signal(signal.SIGINT)
        return best_set(*words, **options)

    monkeypatch.setattr(exact_round, "best_set", pressed)
    done = schedule_round(read_instance("shared-cluster.yaml"))
    exact = exact_counterparts(done, Limits(60.0))
    assert exact.interrupted
    assert exact.best.cost == exact.cost
    assert exact.answers == ()


def test_the_command_says_so(examples: Path, cli: Cli, asked: list[int]) -> None:
    answer = cli("schedule", "shared-cluster.yaml", "--exact", "--json")
    assert answer.code == 130
    assert answer.json["exact"]["evictions"] == []
    assert "interrupted; what was found is kept" in answer.err
