"""Choices that Hypothesis draws and shrinks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st

X = TypeVar("X")


@dataclass(frozen=True)
class FromHypothesis:
    """A `Chooser` whose every choice is one draw, for use in a composite strategy.

    Parameters
    ----------
    draw
        What Hypothesis passes to a composite strategy.
    """

    draw: st.DrawFn

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included; shrinks towards `low`."""
        return self.draw(st.integers(low, high))

    def parts(self, least: int, most: int, make: Callable[[], X | None]) -> list[X]:
        """Return what `make` returns, called `least` to `most` times, without ``None``.

        Hypothesis shrinks it like any list: it leaves out parts, each with all its choices.
        """
        drawn = self.draw(st.lists(st.builds(make), min_size=least, max_size=most))
        return [part for part in drawn if part is not None]
