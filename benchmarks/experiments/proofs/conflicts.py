"""Infeasible instances explained: experiment ``explain_conflicts``.

Each is explained, then checked: the members of every conflict alone have no placement; without
any one of them there is one, and every repaired instance has one, each by a solve of its own and by
the judge. Prints, per instance, the cause, the number of members, the cheapest repair and seconds;
the exit code is 1 where a check fails or a limit is passed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import read_instance
from slotwise.models.judge.judge import judge
from slotwise.solver.explain.constraint import constraints_of, relax
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.explain.explanation import Conflict, Explanation, Feasibility
from slotwise.solver.explain.feasibility import Decider
from slotwise.testing.random_instances.tiny import mixed_instance

COLUMNS = {
    "instance": "<28", "tasks": ">6", "nodes": ">5", "cause": "<14", "members": ">7",
    "checked": "<10", "repairs": ">7", "price": ">9", "solves": ">6", "seconds": ">7",
    "cheapest repair": "<1",
}  # fmt: skip

LATE_S = 2.0
"""Seconds that a solve may take longer that is under way when the time ends."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One instance explained, and what is wrong with the explanation (empty = nothing)."""

    name: str
    instance: Instance
    explanation: Explanation
    wrong: tuple[str, ...]

    @property
    def is_minimal(self) -> bool:
        """Whether every conflict is proven to be minimal."""
        return all(conflict.minimal for conflict in self.explanation.conflicts)

    def to_document(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {"instance": self.name, "wrong": list(self.wrong), **self.explanation.to_document()}

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        explanation, first = self.explanation, next(iter(self.explanation.conflicts), None)
        cheapest = next(iter(explanation.repairs), None)
        checked = "wrong" if self.wrong else "minimal" if self.is_minimal else "unproven"
        return (
            self.name,
            str(len(self.instance.task_names())),
            str(len(self.instance.cluster.nodes)),
            str(explanation.status) if first is None else str(first.cause),
            "-" if first is None else str(len(first.members)),
            "-" if first is None else checked,
            f"{len(explanation.repairs)}{'' if explanation.complete else '+'}",
            "-" if cheapest is None else f"{float(cheapest.price):.6g}",
            str(explanation.solves),
            f"{explanation.seconds:.2f}",
            "-" if cheapest is None else cheapest.text,
        )


def explained(name: str, instance: Instance, time_limit_s: float) -> Explained:
    """Explain an instance and check the explanation."""
    explanation = explain_infeasible(instance, time_limit_s=time_limit_s)
    decider = Decider(10 * time_limit_s, step_fraction=0.1)
    wrong = [
        text
        for conflict in explanation.conflicts
        for text in _wrong_conflict(instance, conflict, decider)
    ]
    for repair in explanation.repairs:
        status = decider.decide(repair.instance).status
        if status is Feasibility.INFEASIBLE or not judge(repair.instance, repair.placement).valid:
            wrong.append(f"no placement after: {repair.text}")
    if explanation.seconds > time_limit_s + LATE_S:
        wrong.append(f"took {explanation.seconds:.1f} s")
    return Explained(name, instance, explanation, tuple(wrong))


def _wrong_conflict(instance: Instance, conflict: Conflict, decider: Decider) -> Iterator[str]:
    members = [member.constraint for member in conflict.members]
    everything = constraints_of(instance)
    others = [constraint for constraint in everything if constraint not in members]
    if decider.decide(relax(instance, others)).status is Feasibility.FEASIBLE:
        yield "the conflict has a placement"
    for constraint in members if conflict.minimal else ():
        if decider.decide(relax(instance, [*others, constraint])).status is Feasibility.INFEASIBLE:
            yield f"not needed: {constraint.name}"


def random_infeasible(seed: int, count: int) -> Iterator[tuple[str, Instance]]:
    """Yield infeasible tiny instances of every rule."""
    number = 0
    while count:
        name = f"tiny-{seed}-{number}"
        instance = mixed_instance(np.random.default_rng((seed, number)))
        number += 1
        if Decider(10.0).decide(instance).status is Feasibility.INFEASIBLE:
            yield name, instance
            count -= 1


def summary(rows: Sequence[Explained]) -> dict[str, Any]:
    """Return what the rows add up to, and the longest time."""
    infeasible = [row for row in rows if row.explanation.conflicts]
    return {
        "instances": len(rows),
        "explained": len(infeasible),
        "conflicts": sum(len(row.explanation.conflicts) for row in infeasible),
        "minimal": sum(row.is_minimal for row in infeasible),
        "repaired": sum(bool(row.explanation.repairs) for row in infeasible),
        "repairs": sum(len(row.explanation.repairs) for row in infeasible),
        "complete": sum(row.explanation.complete for row in infeasible),
        "wrong": sum(bool(row.wrong) for row in rows),
        "causes": dict(Counter(str(row.explanation.conflicts[0].cause) for row in infeasible)),
        "mean_s": round(sum(row.explanation.seconds for row in rows) / max(1, len(rows)), 2),
        "longest_s": round(max((row.explanation.seconds for row in rows), default=0.0), 2),
    }


def _lines(sums: dict[str, Any]) -> list[str]:
    causes = ", ".join(f"{cause} {count}" for cause, count in sums["causes"].items())
    return [
        "",
        f"{sums['explained']} of {sums['instances']} are infeasible: {causes}.",
        f"{sums['conflicts']} conflicts; all proven minimal on {sums['minimal']} instances.",
        f"{sums['repairs']} repairs of {sums['repaired']} instances, all decided on "
        f"{sums['complete']}.",
        f"Wrong: {sums['wrong']}. Seconds: mean {sums['mean_s']}, longest {sums['longest_s']}.",
    ]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("files", nargs="*", type=Path, help="instances to explain instead")
    parser.add_argument("--count", type=int, default=100, help="random tiny instances")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds for each")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Explain the instances and print them; raise where a check fails."""
    table, rows = Table(COLUMNS, options.json), []
    instances = ((path.stem, read_instance(path)) for path in options.files)
    drawn = random_infeasible(options.seed, options.count)
    for name, instance in instances if options.files else drawn:
        row = explained(name, instance, options.time_limit)
        table.add(row.to_document(), row.cells())
        rows.append(row)
    sums = summary(rows)
    table.end(sums, _lines(sums))
    wrong = [f"{row.name}: {text}" for row in rows for text in row.wrong]
    if wrong:
        raise SlotwiseError("; ".join(wrong))
