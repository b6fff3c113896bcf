"""What all engines of one solve know at one moment (`solve_state` takes it under its lock)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile

from slotwise.models.instance.placement import Placement
from slotwise.models.judge.verdict import Verdict
from slotwise.solver.core.trust import Proven


@dataclass(frozen=True, slots=True)
class Best:
    """The incumbent, its value per term in integer steps, and all that the judge says of it."""

    values: tuple[int, ...]
    placement: Placement
    engine: str
    verdict: Verdict = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was known at one moment: the incumbent, the bound of each term, infeasibility.

    `proofs` has the bound of each term up to the first that is not closed, then ``None``.
    """

    best: Best | None
    proofs: tuple[Proven | None, ...]
    infeasible: bool

    @property
    def bounds(self) -> tuple[int | None, ...]:
        """The bound of each term; ``None`` where there is none, or an earlier one is open."""
        return tuple(None if one is None else one.bound for one in self.proofs)

    @property
    def optima(self) -> tuple[int, ...]:
        """The values of the leading terms that are proven optimal."""
        values = () if self.best is None else self.best.values
        pairs = zip(values, self.bounds, strict=False)
        return tuple(value for value, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to find or prove."""
        return self.infeasible or (self.best is not None and self.best.values == self.bounds)
