"""Choices that Hypothesis draws and shrinks."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st


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
