"""What advice looks like to people."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import slotwise
from slotwise.cli.render.advice import show_advice
from slotwise.models.judge.verdict import Violation
from slotwise.pipeline.following.advice import Advice, Batch
from slotwise.pipeline.following.hysteresis import Reason, State
from slotwise.pipeline.following.saving import Saving, Search, TermSaving, saving

MINUTE = 60_000


@pytest.fixture(scope="module")
def found(request: pytest.FixtureRequest) -> Saving:
    root = request.getfixturevalue("root")
    return saving(slotwise.read_instance(root / "docs" / "examples" / "running.json"), Search(1))


def shown(capsys, saved, reason, pays=False, changed=None):
    batch = Batch("s", 4, 90 * MINUTE, 12_345)
    show_advice(Advice(batch, saved, State(pays, changed), reason))
    return " ".join(capsys.readouterr().out.split())


def test_costs_and_moves_are_shown_if_it_pays(found, capsys):
    text = shown(capsys, found, Reason.GAIN, pays=True, changed=90 * MINUTE)
    best = found.terms[-1].best
    gain = f"{float(100 * (38 - best) / 38):.3g}"
    assert text.startswith(
        f"1970-01-01 01:30:00, batch 4, 12,345 samples. A rebalance pays: it gains {gain} % with "
        "1 move."
    )
    assert f"network 38 {int(best)} {int(best)}" in text
    assert found.moves[0].name in text


def test_one_line_if_it_does_not_pay(found, capsys):
    text = shown(capsys, replace(found, moves=()), Reason.SMALL)
    assert "now" not in text.split()
    assert "No rebalance pays: the best one gains" in text
    assert "ended only at 1970-01-01 01:20:00" in shown(
        capsys, found, Reason.COOLDOWN, changed=80 * MINUTE
    )


def test_broken_rules_are_named(found, capsys):
    rule = Violation("capacity", "node n3", "cpu", Fraction(210), Fraction(200))
    text = shown(capsys, replace(found, violations=(rule,)), Reason.GAIN, pays=True, changed=0)
    assert "it gains hard rules that are broken now" in text
    assert "node n3, cpu: 210 needed, 200 available" in text


def test_no_placement_is_said(found, capsys):
    none = replace(found, terms=(TermSaving("network", Fraction(38), None, None),), moves=())
    text = shown(capsys, none, Reason.SMALL)
    assert "nothing: no placement with at most 1 move was found" in text
