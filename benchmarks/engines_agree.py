"""Whether the exact engines agree, rule by rule.

Random instances are solved by several engines; `agreement` says what must hold. The table counts,
for each rule, the instances where it occurs, how they ended, and how many of them each engine
settled. Tiny instances are small enough for exhaustive search; mid-size ones are for the others.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slotwise.benchmarks.agreement import Answer, ask, disagreements
from slotwise.benchmarks.mid_instances import mid_instance
from slotwise.benchmarks.rules_present import RULES, rules_in
from slotwise.benchmarks.tiny_instances import tiny_instance
from slotwise.models.compile import compile_problem
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance import Instance
from slotwise.solver.engines import ENGINES
from slotwise.solver.result import Limits

TINY_ENGINES = ("exhaustive", "configurations", "cp-sat", "milp")
MID_ENGINES = ("cp-sat", "configurations", "milp")

Make = Callable[[np.random.Generator], Instance]


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

    def add(self, number: int, instance: Instance, answers: Sequence[Answer]) -> None:
        """Count the answers to one instance."""
        proofs = [answer for answer in answers if answer.settled]
        status = str(proofs[0].settled.status) if proofs and proofs[0].settled else "unknown"
        self.statuses[status] += 1
        self.by_count[len(proofs)] += 1
        present = ("", *sorted(rules_in(instance)))
        self.rules.update((rule, status) for rule in present)
        self.settled.update((rule, answer.engine) for rule in present for answer in proofs)
        for answer in answers:
            self.seconds[answer.engine] = self.seconds.get(answer.engine, 0.0) + answer.seconds
            if answer.outcome is None:
                self.refused[answer.engine, answer.reason] += 1
            elif not answer.settled:
                self.ended[answer.engine, str(answer.outcome.status)] += 1

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
        heads = ("rule", "instances", "optimal", "infeasible", *self.engines)
        yield _row(heads)
        for rule in ("", *sorted(RULES)):
            counts = (
                self.count(rule),
                self.rules[rule, "optimal"],
                self.rules[rule, "infeasible"],
                *(self.settled[rule, engine] for engine in self.engines),
            )
            yield _row((rule or "(all)", *map(str, counts)))
        for engine, reason in self.refused:
            yield f"{engine} did not take {self.refused[engine, reason]}: {reason}"
        for engine, status in self.ended:
            yield f"{engine} ended {self.ended[engine, status]} as {status}"
        yield "seconds: " + ", ".join(f"{name} {s:.0f}" for name, s in self.seconds.items())
        by = ", ".join(f"{n} engines {self.by_count[n]}" for n in sorted(self.by_count))
        yield f"{self.instances} instances, settled by: {by}; {len(self.mismatches)} mismatches"
        yield from self.mismatches


def _row(cells: Sequence[str]) -> str:
    return f"{cells[0]:<26}" + "".join(f"{cell:>15}" for cell in cells[1:])


def made(make: Make, seed: int, number: int) -> Instance:
    """Return instance `number` of a seed."""
    return make(np.random.default_rng((seed, number)))


def look_at(
    tally: Tally, instance: Instance, number: int, limits: Limits, *, all_or_none: bool = False
) -> None:
    """Ask all engines about one instance; if `all_or_none`, only until one does not settle it."""
    problem = compile_problem(instance)
    answers: list[Answer] = []
    for name in tally.engines:
        answers.append(ask(ENGINES[name], problem, limits))
        if all_or_none and answers[-1].settled is None:
            break
    tally.add(number, instance, answers)
    tally.mismatches += [f"instance {number}: {line}" for line in disagreements(problem, answers)]


def tiny(count: int, seed: int, limits: Limits) -> Tally:
    """Look at `count` tiny instances."""
    tally = Tally(TINY_ENGINES)
    for number in range(count):
        look_at(tally, made(tiny_instance, seed, number), number, limits)
        _progress(tally, count)
    return tally


def mid_size(count: int, seed: int, limits: Limits) -> Tally:
    """Look at mid-size instances until all engines settled `count`, or at three times as many.

    Engines after one that did not settle an instance are not asked about it.
    """
    tally = Tally(MID_ENGINES)
    number = 0
    while tally.by_count[len(MID_ENGINES)] < count and number < 3 * count:
        look_at(tally, made(mid_instance, seed, number), number, limits, all_or_none=True)
        number += 1
        _progress(tally, count)
    return tally


def _progress(tally: Tally, count: int) -> None:
    if tally.instances % 100 == 0:
        sys.stderr.write(
            f"{tally.instances} of {count} looked at, {len(tally.mismatches)} mismatches\n"
        )


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m slotwise.benchmarks.engines_agree",
        description="Exact engines on the same random instances: do they agree, rule by rule?",
    )
    parser.add_argument("--count", type=int, default=2000, help="tiny instances")
    parser.add_argument("--mid-size", type=int, default=0, help="that three engines must settle")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="per engine")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; return 1 if there is a mismatch."""
    options = parser().parse_args(arguments)
    limits = Limits(time_s=options.time_limit)
    try:
        tallies = {
            "tiny": tiny(options.count, options.seed, limits),
            "mid_size": mid_size(options.mid_size, options.seed, limits),
        }
    except SlotwiseError as error:
        sys.stderr.write(f"engines_agree: {error}\n")
        return 2
    if options.json:
        sys.stdout.write(json.dumps({k: t.to_document() for k, t in tallies.items()}) + "\n")
    else:
        for name, tally in tallies.items():
            if tally.instances:
                sys.stdout.write("\n".join((name, *tally.lines(), "")) + "\n")
    return 1 if any(tally.mismatches for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
