"""A published figure, ours beside it, and whether they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from math import floor
from typing import Any

from slotwise.models.formats.json_text import parse_json
from slotwise.models.values import decimals, plain


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, or several that stand together, as published.

    Parameters
    ----------
    section
        Of the article.
    what
        For people, with the unit.
    published
        In the article's digits: ours is rounded to as many decimals.
    quantity, of
        Name of the function that computes ours, and its arguments.
    note
        Why ours differs, or how the figure is read; may be empty.
    """

    section: str
    what: str
    published: tuple[Decimal, ...]
    quantity: str
    of: Mapping[str, Any]
    note: str


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A figure with ours, exact.

    Parameters
    ----------
    figure
        As published.
    ours
        What we compute in its place.
    beside
        The same computed in other ways or for other placements, by name; ``None`` = not known.
    """

    figure: Figure
    ours: tuple[Fraction, ...]
    beside: Mapping[str, tuple[Fraction, ...] | None] = field(default_factory=dict)

    @property
    def rounded(self) -> tuple[Fraction, ...]:
        """Ours to the decimals of the figure, half up; where their number differs, of the first."""
        digits = [decimals(one) for one in self.figure.published]
        digits += digits[:1] * (len(self.ours) - len(digits))
        return tuple(
            Fraction(floor(one * 10**places + Fraction(1, 2)), 10**places)
            for one, places in zip(self.ours, digits, strict=False)
        )

    @property
    def same(self) -> bool:
        """Whether all are equal in the digits that were published."""
        return self.rounded == tuple(map(Fraction, self.figure.published))


@dataclass(frozen=True, slots=True)
class NotReproducible:
    """What an article reports that cannot be computed, and why."""

    section: str
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """A number that an article does not publish, and why it is this one; the same for all rows."""

    key: str
    value: Decimal
    why: str


@dataclass(frozen=True, slots=True)
class Article:
    """An article's figures, what they assume, and what cannot be computed."""

    title: str
    figures: tuple[Figure, ...]
    not_reproducible: tuple[NotReproducible, ...]
    assumptions: tuple[Assumption, ...] = ()


def read_article(name: str) -> Article:
    """Return the packaged figures of an article, for example ``sam``."""
    folder = files("slotwise.benchmarks.reproduction")
    data = parse_json(folder.joinpath(f"data/{name}.json").read_text("utf-8"))
    return Article(
        data["article"],
        tuple(_figure(one) for one in data["figures"]),
        tuple(NotReproducible(**one) for one in data["not_reproducible"]),
        tuple(
            Assumption(one["key"], Decimal(one["value"]), one["why"])
            for one in data.get("assumptions", [])
        ),
    )


def _figure(row: Mapping[str, Any]) -> Figure:
    published = row["published"] if isinstance(row["published"], list) else [row["published"]]
    return Figure(
        row["section"],
        row["what"],
        tuple(Decimal(one) for one in published),
        row["quantity"],
        row["of"],
        row.get("note", ""),
    )


def reproduction_document(article: Article, reproduced: Sequence[Reproduced]) -> dict[str, Any]:
    """Return all of it as JSON-ready data, ours not rounded."""
    document = {
        "article": article.title,
        "figures": [
            {
                "section": one.figure.section,
                "what": one.figure.what,
                "published": [plain(value) for value in one.figure.published],
                "ours": [plain(value) for value in one.ours],
                "same": one.same,
                "note": one.figure.note or None,
            }
            | ({"beside": _plain(one.beside)} if one.beside else {})
            for one in reproduced
        ],
        "not_reproducible": [asdict(one) for one in article.not_reproducible],
    }
    if article.assumptions:
        document["assumptions"] = [
            {"key": assumption.key, "value": plain(assumption.value), "why": assumption.why}
            for assumption in article.assumptions
        ]
    return document


def _plain(beside: Mapping[str, tuple[Fraction, ...] | None]) -> dict[str, list[Any] | None]:
    return {
        name: None if values is None else [plain(value) for value in values]
        for name, values in beside.items()
    }
