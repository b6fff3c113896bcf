"""What a family of generated instances is."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from slotwise.models.errors import InputError

Made = TypeVar("Made")
"""What a family makes: instances, or cases of another problem."""


def no_label(index: int, seed: int) -> str | None:
    """Return ``None``: nothing is known of the instance before it is solved."""
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
        As users write it.
    description
        One line.
    count
        How many instances are made where nobody says; the most there are if `limited`.
    make
        ``(index, seed)`` -> instance; index from 0.
    parameters
        What the instances are drawn from, for reports.
    label
        ``(index, seed)`` -> ``feasible`` or ``infeasible`` where that is so by construction,
        ``None`` where it is not known.
    limited
        Whether there are `count` instances and no more.
    note
        What a reader of a report must know besides; whole sentences.
    held_out
        Whether it is for final figures only: never among "all families".
    with_tasks
        (least, most) -> the family with topologies of that many tasks; ``None`` = its sizes are
        what they are.
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
    """Return a whole number from `low` to `high`, both included, each as likely."""
    return int(rng.integers(low, high, endpoint=True))


def check_index(family: str, index: int, count: int | None = None) -> None:
    """Refuse an index below 0, and one that a limited family does not have."""
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
        Where it is written otherwise.
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
        Where the family has no sizes to choose, or not these.
    """
    if family.with_tasks is None:
        rule = f"cannot be chosen: the sizes of the family {family.name} are what they are"
        raise InputError(rule, field="tasks", value=f"{least}-{most}")
    return family.with_tasks(least, most)
