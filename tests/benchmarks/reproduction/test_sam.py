"""The figures of the SAM article: all computed, every difference explained."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from slotwise.benchmarks.reproduction.figure import Figure, Reproduced, read_article
from slotwise.benchmarks.reproduction.sam import (
    QUANTITIES,
    _ranks,
    article,
    reproduce,
    shortfall,
    supported_rate,
)


@pytest.fixture(scope="module")
def found() -> list[Reproduced]:
    return reproduce(article())


def test_what_differs_is_explained(found: list[Reproduced]) -> None:
    assert [one.figure.what for one in found if not one.same and not one.figure.note] == []


def test_figures_that_differ(found: list[Reproduced]) -> None:
    """Errors of the article, its rounding, and what RSM leaves open; a new one would be ours."""
    assert len(found) == 96
    differing = {one.figure.what for one in found if not one.same}
    assert len(differing) == 37
    assert "table: peak rate of 60 threads, tuples/s" in differing
    assert "linear on 20 slots: predicted rate, MBA+RSM" in differing
    by_section = [one.figure.section for one in found if one.same]
    assert by_section.count("scripts") == 8  # all that the authors' scripts wrote


def test_orders_of_latencies(found: list[Reproduced]) -> None:
    """Section 8.6: the DAGs by their longest paths; of the pairs, all but MBA+RSM agree."""
    rows = {one.figure.what: one.same for one in found if one.figure.section == "8.6"}
    assert rows["diamond, star, linear: tasks on the longest path"]
    orders = {what: same for what, same in rows.items() if "ranks by latency" in what}
    assert [what for what, same in orders.items() if not same] == [
        "diamond, star, linear: ranks by latency, MBA+RSM",
        "MBA+DSM, LSA+DSM, MBA+RSM, LSA+RSM, MBA+SAM: ranks by latency",
    ]


def test_a_rate_that_shuffle_supports() -> None:
    """Diamond at 100: 40 of 160 threads get 25 tuples/s of 100 on a slot that supports 20."""
    assert supported_rate("diamond", 100, "mba+sam", "shuffle") == (Fraction(80),)
    assert supported_rate("diamond", 100, "mba+sam", "slot-aware") == (Fraction(100),)
    assert shortfall("mba+sam") == (Fraction(20),)


def test_ranks_by_hand() -> None:
    values = [Fraction(3), Fraction(1), Fraction(3)]
    assert _ranks(values) == (Fraction(2), Fraction(1), Fraction(2))


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
