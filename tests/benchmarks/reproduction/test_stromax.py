"""The figures of the StroMAX article: equal cpu a task, and times against another scheduler."""

from __future__ import annotations

from fractions import Fraction

import pytest

import slotwise
from slotwise.benchmarks.reproduction import stromax
from slotwise.benchmarks.reproduction.placements import Outcome, Tried, placed
from slotwise.benchmarks.reproduction.stromax import (
    QUANTITIES,
    Setting,
    article,
    instance,
    network_alone,
    processing_time,
)
from slotwise.cli.render.reproductions import show_reproduced


def test_a_full_node_uses_half_its_cpu() -> None:
    tried = Tried(instance(Setting(("tt",), with_tasks=True)))
    outcome = tried.predicted(placed(tried.instance, "stromax-global"))
    assert outcome.machines == 5  # 45 tasks, ten a node: the last one half full
    assert 0.45 <= outcome.cpu < 0.5  # 4.5 x 50 % over 5 nodes, and sending on top


def test_filling_nodes_makes_tuples_wait_for_cores() -> None:
    given = instance(Setting(("tt",), with_tasks=True))
    places = [placed(given, one) for one in ("stromax-global", "round-robin")]
    for one, is_slower in ((given, True), (network_alone(given), False)):
        ours, base = (Tried(one).predicted(place).latencies["tt"] for place in places)
        assert (ours > base) is is_slower


def test_processing_time_by_hand() -> None:
    ours = Outcome({}, {"a": 50.0, "b": 90.0}, 0.1, 1)
    base = Outcome({}, {"a": 100.0, "b": 100.0}, 0.1, 1)
    assert processing_time(ours, base, ["b", "a"]) == (Fraction(-50), Fraction(-10))


def test_tuples_of_tt_have_the_size_of_the_article() -> None:
    topologies = instance(Setting(("tt", "wc"))).topologies
    sizes = [{one.tuple_bytes for one in topology.streams} for topology in topologies]
    assert sizes == [{10240}, {1000}]


def test_every_row_says_why_and_every_quantity_is_used() -> None:
    assert {one.quantity for one in article().figures} == set(QUANTITIES)
    assert all(one.note for one in article().figures)


@pytest.mark.slow
@pytest.mark.in_turn
def test_all_rows(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stromax, "TIME_LIMIT_S", 1.0)  # what is not proven then stays open
    figures = slotwise.reproduce("stromax").figures
    show_reproduced(article(), figures)
    assert "Assumed, the same for all rows:" in " ".join(capsys.readouterr().out.split())
    for one in figures:
        assert not one.same
        assert one.ours[0] >= 0
        assert one.beside["simulated"] is not None
