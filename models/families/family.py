"""The definition of a family of generated instances."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from slotwise.models.errors import InputError

Made = TypeVar("Made")
"""The members of a family: instances, or cases of another problem."""


def no_label(index: int, seed: int) -> str | None:
    """Return ``None``: feasibility is not known before the instance is solved."""
    return None


def always_feasible(index: int, seed: int) -> str:
    """Return ``feasible``."""
    return "feasible"


@dataclass(frozen=True, slots=True)
class Family(Generic[Made]):
    """Instances, or cases of allocation, by index.

    The same seed and index give the same instance, whatever the count.

    Parameters
    ----------
    name
        The name by which users select it.
    description
        One line.
    count
        Default number of instances; the largest one if `limited`.
    make
        ``(index, seed)`` -> instance; index from 0.
    parameters
        The parameters of the distribution, for reports.
    label
        ``(index, seed)`` -> ``feasible`` or ``infeasible`` where that is known by construction,
        otherwise ``None``.
    limited
        Whether there are `count` instances and no more.
    note
        Further remarks for readers of a report; whole sentences.
    held_out
        Whether it is for final figures only: never among "all families".
    with_tasks
        (least, most) -> the family with topologies of that many tasks; ``None`` = its sizes are
        fixed.
    """

    name: str
    description: str
    count: int
    make: Callable[[int, int], Made]
    parameters: Mapping[str, int | float | str] = field(default_factory=dict)
    label: Callable[[int, int], str | None] = no_label
    limited: bool = False
    note: str = ""
    held_out: bool = False
    with_tasks: Callable[[int, int], Family[Made]] | None = None

    def generate(self, count: int | None = None, seed: int = 0) -> Iterator[Made]:
        """Yield the first `count` instances; ``None`` = the family's own count.

        Raises
        ------
        InputError
            When a limited family has fewer.
        """
        return (self.make(index, seed) for index in range(self.number(count)))

    def number(self, count: int | None = None) -> int:
        """Return how many instances `generate` yields.

        Raises
        ------
        InputError
            When a limited family has fewer than `count`.
        """
        wanted = self.count if count is None else count
        if self.limited and wanted > self.count:
            raise InputError(
                f"the family {self.name} has {self.count} instances", field="count", value=wanted
            )
        return wanted


def child_rng(family: str, seed: int, index: int) -> np.random.Generator:
    """Return the generator of one instance, from a hash of family, seed and index alone."""
    digest = hashlib.sha256(f"{family}/{seed}/{index}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def draw(rng: np.random.Generator, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both included, uniformly distributed."""
    return int(rng.integers(low, high, endpoint=True))


def check_index(family: str, index: int, count: int | None = None) -> None:
    """Raise `InputError` for an index below 0, or one that a limited family does not have."""
    if index < 0 or (count is not None and index >= count):
        last = "" if count is None else f" to {count - 1}"
        raise InputError(
            f"the family {family} has indices from 0{last}", field="index", value=index
        )


def task_range(text: str) -> tuple[int, int]:
    """Return least and most of ``LEAST-MOST``, as ``50-600``.

    Raises
    ------
    InputError
        For any other form.
    """
    match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", text)
    if match is None:
        raise InputError("must be two whole numbers, as 50-600", field="tasks", value=text)
    return int(match[1]), int(match[2])


def of_sizes(family: Family[Made], least: int, most: int) -> Family[Made]:
    """Return the family with topologies of `least` to `most` tasks.

    Raises
    ------
    InputError
        Where the sizes of the family are fixed, or these are not possible.
    """
    if family.with_tasks is None:
        rule = f"cannot be chosen: the sizes of the family {family.name} are fixed"
        raise InputError(rule, field="tasks", value=f"{least}-{most}")
    return family.with_tasks(least, most)
