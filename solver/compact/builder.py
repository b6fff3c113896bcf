"""What the compact formulation asks of a solver's model: variables, sums and linear rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, Self, TypeVar

from slotwise.models.cancellation import CancellationToken


class Linear(Protocol):
    """A variable, a linear expression with whole coefficients, or a whole number."""

    def __rmul__(self, factor: int, /) -> Self:
        """Return `factor` times this."""
        ...


E = TypeVar("E", bound=Linear)
"""A back end's own linear expressions; its variables are such, too."""


class ModelBuilder(Protocol[E]):
    """A model under construction; every variable is at least 0 and bounded.

    Names are for model files: a back end that writes none may drop them.
    """

    @property
    def token(self) -> CancellationToken:
        """What stops the building; new variables and rows check it."""
        ...

    @property
    def opens_first(self) -> bool:
        """Whether each worker has a boolean "open", stated before its counts.

        Else only a worker has one where a rule or a term asks for it, after its counts: the order
        of variables guides a search.
        """
        ...

    def whole(self, name: str, upper: int) -> E:
        """Add a whole number from 0 to `upper`."""
        ...

    def boolean(self, name: str) -> E:
        """Add a choice, 0 or 1."""
        ...

    def number(self, name: str, upper: int) -> E:
        """Add a number from 0 to `upper` that may be whole: the model is exact either way."""
        ...

    def total(self, parts: Iterable[E | int]) -> E:
        """Return the sum of expressions and whole numbers."""
        ...

    def most(self, expression: E) -> int:
        """Return the largest value of an expression that the bounds of its variables allow."""
        ...

    def at_most(self, name: str, left: E | int, right: E | int) -> None:
        """State left <= right."""
        ...

    def at_least(self, name: str, left: E | int, right: E | int) -> None:
        """State left >= right."""
        ...

    def equal(self, name: str, left: E | int, right: E | int) -> None:
        """State left = right."""
        ...

    def implies(self, name: str, first: E, second: E) -> None:
        """State of two booleans: if the first, then the second."""
        ...
