"""Sources of choice for generators: the same grammar draws from NumPy or from Hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from numpy.random import Generator

X = TypeVar("X")


class Chooser(Protocol):
    """A source of choices."""

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        ...

    def parts(self, least: int, most: int, make: Callable[[], X | None]) -> list[X]:
        """Return what `make` returns, called again and again, without ``None``.

        It is called `most` times, or until it returns ``None``, which it does from then on. A
        source that shrinks its choices may end at any time after `least` calls: it can leave out
        any one part with all its choices.
        """
        ...


@dataclass(frozen=True)
class FromRng:
    """Choices of a seeded NumPy generator."""

    rng: Generator

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        return int(self.rng.integers(low, high + 1))

    def parts(self, least: int, most: int, make: Callable[[], X | None]) -> list[X]:
        """Return what `make` returns, called `most` times or until it returns ``None``."""
        parts: list[X] = []
        for _ in range(most):
            part = make()
            if part is None:
                break
            parts.append(part)
        return parts


def chance(choose: Chooser, percent: int) -> bool:
    """Return true in `percent` of the cases."""
    return choose.whole(0, 99) >= 100 - percent


def pick(choose: Chooser, options: Sequence[X]) -> X:
    """Return one of the options, each as likely."""
    return options[choose.whole(0, len(options) - 1)]
