"""The figures of the SAM article: all computed, every difference explained."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from slotwise.benchmarks.reproduction.figure import Figure, Reproduced, read_article
from slotwise.benchmarks.reproduction.sam import QUANTITIES, article, reproduce


@pytest.fixture(scope="module")
def found() -> list[Reproduced]:
    return reproduce(article())


def test_what_differs_is_explained(found: list[Reproduced]) -> None:
    assert [one.figure.what for one in found if not one.same and not one.figure.note] == []


def test_figures_that_differ(found: list[Reproduced]) -> None:
    """Errors of the article, its rounding, and what RSM leaves open; a new one would be ours."""
    assert len(found) == 76
    differing = {one.figure.what for one in found if not one.same}
    assert len(differing) == 22
    assert "table: peak rate of 60 threads, tuples/s" in differing
    assert "linear on 20 slots: predicted rate, MBA+RSM" in differing
    by_section = [one.figure.section for one in found if one.same]
    assert by_section.count("scripts") == 8  # all that the authors' scripts wrote


def test_every_quantity_is_used(found: list[Reproduced]) -> None:
    assert {one.figure.quantity for one in found} == set(QUANTITIES)


def test_the_scripts_figures_are_those_of_their_outputs(
    found: list[Reproduced], root: Path
) -> None:
    path = root / "tests" / "heuristics" / "sam" / "authors_outputs.json"
    rows = json.loads(path.read_text("utf-8"))["rows"]
    tasks = ("blob", "table", "pi", "xml", "file")
    written = [[row["tasks"][task]["threads"] for task in tasks] for row in rows]
    assert [
        list(one.figure.published) for one in found if one.figure.section == "scripts"
    ] == written


def reproduced(published: str, *ours: str) -> Reproduced:
    numbers = tuple(map(Decimal, published.split()))
    return Reproduced(Figure("1", "x", numbers, "cpu", {}, ""), tuple(map(Fraction, ours)))


@pytest.mark.parametrize(
    ("published", "ours", "same"),
    [
        ("337", ["336.5"], True),  # half up, as the article
        ("337", ["336.49"], False),
        ("23.9", ["23.92"], True),
        ("23.9", ["23.95"], False),
        ("1 2", ["1", "2.2"], True),
        ("1 2", ["1"], False),
        ("1 2", ["1", "2", "3"], False),
    ],
)
def test_same_to_the_digits_that_were_published(
    published: str, ours: list[str], same: bool
) -> None:
    assert reproduced(published, *ours).same is same


def test_an_article_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError):
        read_article("nobody")
