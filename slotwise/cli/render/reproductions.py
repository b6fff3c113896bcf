"""Published figures beside ours, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from slotwise.benchmarks.reproduction.figure import Article, Reproduced
from slotwise.cli.render.tables import show, table
from slotwise.models.values import short_text

_HEADS = ("§", "figure", "article", "ours", "same")


def show_reproduced(article: Article, figures: Sequence[Reproduced]) -> None:
    """Show all figures in a table, the differing ones numbered, and the notes below it.

    Our numbers have six digits, or those of the article where they are the same; a dash stands
    for what is not known.
    """
    notes: list[str] = []
    rows = []
    for one in figures:
        what = one.figure.what
        if one.figure.note:
            if one.figure.note not in notes:
                notes.append(one.figure.note)
            what += f" [{notes.index(one.figure.note) + 1}]"
        ours = _text(one.rounded if one.same else one.ours)
        more = ("-" if values is None else _text(values) for values in one.beside.values())
        row = (one.figure.section, what, _text(one.figure.published), ours)
        rows.append((*row, *more, "yes" if one.same else "no"))
    names = tuple(figures[0].beside) if figures else ()
    same = sum(one.same for one in figures)
    made = table(rows, (*_HEADS[:-1], *names, _HEADS[-1]), ("article", "ours", *names))
    for column in made.columns:  # as narrow as words and numbers; the figures get the rest
        words = (*str(column.header).split(), *map(str, column.cells))
        column.max_width = max(map(len, words))
    made.columns[_HEADS.index("figure")].max_width = None
    show(
        f"{article.title}: {same} of {len(figures)} figures are the same, "
        f"{len(figures) - same} differ.",
        made,
        *(f"[{number}] {note}" for number, note in enumerate(notes, 1)),
        *_assumed(article),
        "",
        "Not reproducible:",
        *(f"  {one.section}: {one.what}: {one.why}." for one in article.not_reproducible),
    )


def _assumed(article: Article) -> Iterator[str]:
    """Yield what the article does not publish and was assumed."""
    if article.assumptions:
        yield from ("", "Assumed, the same for all rows:")
    for one in article.assumptions:
        yield f"  {one.key} = {short_text(one.value)}: {one.why}."


def _text(numbers: Iterable[Decimal | Fraction]) -> str:
    return ", ".join(map(short_text, numbers))
