"""``reproduce``: the figures of an article beside ours."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from slotwise.benchmarks.reproduction.figure import (
    Article,
    Assumption,
    Figure,
    Reproduced,
    reproduction_document,
)
from slotwise.cli.render.reproductions import show_reproduced


def test_sam_for_people(cli):
    answer = cli("reproduce", "sam")
    assert (answer.code, answer.err) == (0, "")
    text = " ".join(answer.out.split())
    assert "59 of 96 figures are the same, 37 differ" in text
    assert "[1] An error of the article" in text
    assert "Not reproducible:" in text


def test_sam_as_json(cli):
    answer = cli("reproduce", "sam", "--json")
    assert answer.code == 0
    assert len(answer.out.splitlines()) == 1
    assert {*answer.json} == {"article", "figures", "not_reproducible"}
    first = answer.json["figures"][0]
    assert {*first} == {"section", "what", "published", "ours", "same", "note"}
    assert all(one["same"] or one["note"] for one in answer.json["figures"])


def test_bad_usage(cli):
    for words in (["reproduce"], ["reproduce", "smas"], ["reproduce", "sam", "--nope"]):
        answer = cli(*words)
        assert (answer.code, answer.out) == (2, "")
        assert len(answer.err.splitlines()) == 1


def test_columns_beside_ours(capsys):
    number = (Decimal(50),)
    figure = Figure("1", "gain, %", number, "x", {}, "")
    assumption = Assumption("window", Decimal(1), "not published")
    article = Article("An article", (figure,), (), (assumption,))
    found = Reproduced(figure, (Fraction(49),), {"simulated": (Fraction(48),), "proven": None})
    show_reproduced(article, [found])
    out = capsys.readouterr().out
    row = next(line for line in out.splitlines() if "gain" in line).split()
    assert row == ["1", "gain,", "%", "50", "49", "48", "-", "no"]
    assert "window = 1: not published." in out
    document = reproduction_document(article, [found])
    assert document["figures"][0]["beside"] == {"simulated": [48], "proven": None}
    assert document["assumptions"][0]["value"] == 1
