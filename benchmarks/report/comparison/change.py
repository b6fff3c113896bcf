"""What became of the runs of a method from one grading to another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Change(StrEnum):
    """What became of one run."""

    BETTER = "better"
    """Less in the first term that differs."""
    WORSE = "worse"
    """More in the first term that differs."""
    UNCHANGED = "unchanged"
    """The same value of every term."""
    NEWLY_SOLVED = "newly solved"
    """No valid placement before, one now."""
    NEWLY_FAILING = "newly failing"
    """A valid placement before, none now."""
    BOTH_FAIL = "both fail"
    """No valid placement before or now."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One method on one case in both gradings.

    Parameters
    ----------
    instance
        Its name, with the seed where that is not 0.
    instance_hash, seed
        The case.
    change
        What became of it.
    term
        The first term that differs; ``None`` where none does or a run failed.
    before, after
        Values of the terms, or why there is no valid placement.
    """

    instance: str
    instance_hash: str
    seed: int
    change: Change
    term: str | None
    before: str
    after: str

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "instance": self.instance,
            "instance_hash": self.instance_hash,
            "seed": self.seed,
            "change": str(self.change),
            "term": self.term,
            "before": self.before,
            "after": self.after,
        }


@dataclass(frozen=True, slots=True)
class TermChange:
    """One term of a method, over the pairs that count in it.

    A pair counts where both placements are valid and equal in every earlier term.

    Parameters
    ----------
    term
        Its name.
    pairs, better, worse
        Pairs that count; those where the value is less now; those where it is more.
    mean, low, high
        Mean of after - before over instances, in the term's unit, and its 95 % interval; ``None`` =
        too few instances.
    p_value
        Of Wilcoxon's signed-rank test, paired by instance, corrected for all methods and terms
        (Holm); ``None`` = too few instances differ.
    """

    term: str
    pairs: int
    better: int
    worse: int
    mean: float
    low: float | None
    high: float | None
    p_value: float | None

    @property
    def verdict(self) -> str:
        """What the test says at a level of 5 %."""
        if self.better == self.worse == 0:
            return "the same"
        if self.p_value is None:
            return "too few differ"
        if self.p_value > 0.05:
            return "no clear difference"
        return "better" if self.mean < 0 else "worse"

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "term": self.term,
            "pairs": self.pairs,
            "better": self.better,
            "worse": self.worse,
            "mean_change": self.mean,
            "interval": None if self.low is None else [self.low, self.high],
            "p_value": self.p_value,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True)
class MethodChanges:
    """All pairs of one method, by instance, and its terms in the objective's order."""

    method: str
    pairs: tuple[Pair, ...]
    terms: tuple[TermChange, ...]

    def count(self, change: Change) -> int:
        """Return how many pairs changed like that."""
        return sum(pair.change == change for pair in self.pairs)

    def of(self, change: Change) -> tuple[Pair, ...]:
        """Return the pairs that changed like that."""
        return tuple(pair for pair in self.pairs if pair.change == change)

    def to_document(self) -> dict[str, Any]:
        """Return counts, terms, and every pair but the unchanged ones, as JSON-ready data."""
        return {
            "method": self.method,
            "pairs": len(self.pairs),
            "counts": {str(change): self.count(change) for change in Change},
            "terms": [term.to_document() for term in self.terms],
            "changes": [
                pair.to_document() for pair in self.pairs if pair.change != Change.UNCHANGED
            ],
        }
