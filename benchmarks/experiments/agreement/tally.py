"""What engines said of many instances, counted rule by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from slotwise.benchmarks.experiments.agreement.panel import Answer
from slotwise.benchmarks.experiments.agreement.rule_coverage import RULES

REFUSED, FAILED = "refused", "failed"
SETTLED = ("optimal", "infeasible")


@dataclass(frozen=True, slots=True)
class Said:
    """How one engine ended: a status, `REFUSED` (and why) or `FAILED`; wall-clock seconds."""

    engine: str
    how: str
    why: str
    seconds: float

    @classmethod
    def of(cls, answer: Answer) -> Said:
        """Return what is kept of an answer."""
        how = FAILED if answer.fault else REFUSED
        if answer.outcome is not None:
            how = str(answer.outcome.status)
        return cls(answer.engine, how, answer.reason or answer.fault, round(answer.seconds, 4))


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """One instance: its number, the rules that occur in it, what was said, what is contradicted."""

    number: int
    rules: tuple[str, ...]
    said: tuple[Said, ...]
    mismatches: tuple[str, ...]


@dataclass
class Tally:
    """What was seen so far.

    Parameters
    ----------
    engines
        Names of those that are asked.
    mismatches
        One line per contradiction, with the number of the instance.
    statuses
        How instances ended, by those that settled them.
    rules
        (rule, status) -> instances.
    settled
        (rule, engine) -> instances that the engine settled; rule ``""`` counts all.
    refused, ended
        (engine, reason) -> instances not taken; (engine, status) -> instances not settled.
    by_count
        Number of engines that settled an instance -> instances.
    seconds
        Engine -> seconds in all.
    """

    engines: tuple[str, ...]
    mismatches: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    rules: Counter[tuple[str, str]] = field(default_factory=Counter)
    settled: Counter[tuple[str, str]] = field(default_factory=Counter)
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)
    ended: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_count: Counter[int] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def instances(self) -> int:
        """How many instances were looked at."""
        return self.by_count.total()

    def add(self, row: InstanceRow) -> None:
        """Count one instance."""
        proofs = [claim for claim in row.said if claim.how in SETTLED]
        status = proofs[0].how if proofs else "unknown"
        self.statuses[status] += 1
        self.by_count[len(proofs)] += 1
        present = ("", *row.rules)
        self.rules.update((rule, status) for rule in present)
        self.settled.update((rule, claim.engine) for rule in present for claim in proofs)
        for claim in row.said:
            self.seconds[claim.engine] = self.seconds.get(claim.engine, 0.0) + claim.seconds
            if claim.how == REFUSED:
                self.refused[claim.engine, claim.why] += 1
            elif claim.how not in SETTLED:
                self.ended[claim.engine, claim.how] += 1
        self.mismatches += [f"instance {row.number}: {line}" for line in row.mismatches]

    def count(self, rule: str) -> int:
        """Return how many instances have a rule; all for ``""``."""
        return sum(n for (name, _), n in self.rules.items() if name == rule)

    def to_document(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {
            "instances": self.instances,
            "mismatches": self.mismatches,
            "statuses": dict(self.statuses),
            "settled_by": {str(n): count for n, count in sorted(self.by_count.items())},
            "rules": {
                rule: {
                    "instances": self.count(rule),
                    "optimal": self.rules[rule, "optimal"],
                    "infeasible": self.rules[rule, "infeasible"],
                    **{engine: self.settled[rule, engine] for engine in self.engines},
                }
                for rule in sorted(RULES)
            },
            "refused": [[*key, count] for key, count in self.refused.most_common()],
            "not_settled": [[*key, count] for key, count in self.ended.most_common()],
            "seconds": {engine: round(s, 1) for engine, s in self.seconds.items()},
        }

    def lines(self) -> Iterator[str]:
        """Yield the table and what else there is to say."""
        yield from self._table()
        for (engine, reason), count in self.refused.most_common():
            yield f"{engine} did not take {count}: {reason}"
        for (engine, status), count in self.ended.most_common():
            yield f"{engine} ended {count} as {status}"
        yield "seconds: " + ", ".join(f"{name} {s:.0f}" for name, s in self.seconds.items())
        by = ", ".join(f"{n} engines {self.by_count[n]}" for n in sorted(self.by_count))
        yield f"{self.instances} instances, settled by: {by}; {len(self.mismatches)} mismatches"
        yield from self.mismatches

    def _table(self) -> Iterable[str]:
        yield _row(("rule", "instances", "optimal", "infeasible", *self.engines))
        for rule in ("", *sorted(RULES)):
            counts = (
                self.count(rule),
                self.rules[rule, "optimal"],
                self.rules[rule, "infeasible"],
                *(self.settled[rule, engine] for engine in self.engines),
            )
            yield _row((rule or "(all)", *map(str, counts)))


def _row(cells: Sequence[str]) -> str:
    return f"{cells[0]:<26}" + "".join(f"{cell:>15}" for cell in cells[1:])
