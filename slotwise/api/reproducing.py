"""Figures of articles, computed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from slotwise.benchmarks.reproduction import r_storm, sam, stromax
from slotwise.benchmarks.reproduction.figure import Article, Reproduced, reproduction_document
from slotwise.models.values import known

ARTICLES: dict[str, tuple[Callable[[], Article], Callable[[Article], list[Reproduced]]]] = {
    "sam": (sam.article, sam.reproduce),
    "r-storm": (r_storm.article, r_storm.reproduce),
    "stromax": (stromax.article, stromax.reproduce),
}
"""Name of an article -> its figures, and the function that computes ours."""


@dataclass(frozen=True, slots=True)
class Reproduction:
    """An article's figures and ours.

    Parameters
    ----------
    article
        The published article.
    figures
        Every figure with ours.
    """

    article: Article
    figures: Sequence[Reproduced]

    def __repr__(self) -> str:
        """One line: how many figures agree."""
        agree = sum(one.same for one in self.figures)
        return f"Reproduction: {agree} of {len(self.figures)} figures agree"

    def to_document(self) -> dict[str, Any]:
        """Return what ``reproduce --json`` prints."""
        return reproduction_document(self.article, list(self.figures))


def reproduce(article: str = "sam") -> Reproduction:
    """Compute the figures of an article, beside those that it states.

    Parameters
    ----------
    article
        ``sam``, ``r-storm`` or ``stromax``.

    Raises
    ------
    InputError
        For an unknown article.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.reproduce("sam")  # doctest: +SKIP
    Reproduction: 59 of 96 figures agree
    """
    published, computed = ARTICLES[known(article, ARTICLES, "article")]
    articles = published()
    return Reproduction(articles, computed(articles))
