"""Contradictions that a person sees at once: experiment ``contradictions``.

Ten kinds, each of them one short of what a placement needs, up to 500 tasks: `solve` must prove
each infeasible in time, with a certificate that holds for the instance compiled once more, whose
rules name the one at fault, and `explain` must begin with it. Then feasible instances, each with a
placement that the judge confirms: the same with just enough room, and tiny random ones of every
rule. None may have a contradiction. The exit code is 1 where any of that fails.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.benchmarks.experiments.proofs.one_short import KINDS, Case, one_short
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import SlotwiseError
from slotwise.models.infeasibility.contradictions import holds
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.contradictions import find_contradiction
from slotwise.solver.core.result import Status
from slotwise.solver.explain.explain import explain_infeasible
from slotwise.solver.solve import solve
from slotwise.testing.random_instances.tiny import mixed_instance

COLUMNS = {
    "kind": "<22", "instances": ">9", "most tasks": ">10", "proven": ">7", "verified": ">8",
    "rule named": ">10", "explained": ">9", "mean s": ">7", "longest s": ">9",
}  # fmt: skip

FIND_S = 10.0
"""Seconds in which `exhaustive` may find a placement of a tiny instance."""


@dataclass(frozen=True, slots=True)
class Proven:
    """What became of one contradiction."""

    tasks: int
    proven: bool
    verified: bool
    named: bool
    explained: bool
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether all that was asked holds."""
        return self.proven and self.verified and self.named and self.explained


def proven(case: Case, limit_s: float) -> Proven:
    """Solve an instance that is one short, and explain it."""
    began = time.perf_counter()
    result = solve(case.instance, time_limit_s=limit_s)
    seconds = time.perf_counter() - began
    contradiction = result.contradiction
    again = compile_problem(case.instance)
    answer = explain_infeasible(case.instance, time_limit_s=limit_s)
    return Proven(
        tasks=len(case.instance.task_names()),
        proven=result.status is Status.INFEASIBLE and seconds <= limit_s,
        verified=contradiction is not None and holds(again, contradiction.contradiction),
        named=contradiction is not None and case.rule in contradiction.rules,
        explained=any(case.rule in one.rules for one in answer.contradictions),
        seconds=seconds,
    )


def feasible(seed: int, count: int) -> Iterator[tuple[Instance, Placement]]:
    """Yield instances with a placement: a half with just enough room, a half tiny."""
    for number in range(count // 2):
        case = one_short(list(KINDS)[number % len(KINDS)], seed + number // len(KINDS), 0)
        assert case.placement is not None, "it is not short"
        yield case.instance, case.placement
    left, number = count - count // 2, 0
    while left:
        instance = mixed_instance(np.random.default_rng((seed, number)))
        number += 1
        result = solve(instance, engine="exhaustive", time_limit_s=FIND_S)
        if result.placement is not None:
            yield instance, result.placement
            left -= 1


def wrong_of(seed: int, count: int) -> list[str]:
    """Return the feasible instances that are said to have no placement."""
    wrong = []
    for number, (instance, placement) in enumerate(feasible(seed, count)):
        if not judge(instance, placement).valid:
            raise SlotwiseError(f"feasible instance {number}: its placement is not valid")
        contradiction = find_contradiction(compile_problem(instance))
        if contradiction is not None:
            wrong.append(f"feasible instance {number} ({instance.name}): {contradiction}")
    return wrong


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--count", type=int, default=300, help="contradictions")
    parser.add_argument("--feasible", type=int, default=3000, help="feasible instances")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most-tasks", type=int, default=500)
    parser.add_argument(
        "--time-limit", type=float, default=3.0, help="seconds for each proof and explanation"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Prove and explain, then look for false ones; raise where anything fails."""
    table, rows = Table(COLUMNS, options.json), dict[str, list[Proven]]()
    for index, kind in enumerate(KINDS):
        seeds = range(options.seed, options.seed + len(range(index, options.count, len(KINDS))))
        rows[kind] = [
            proven(
                one_short(kind, seed, 1, most_tasks=options.most_tasks),
                options.time_limit,
            )
            for seed in seeds
        ]
        if rows[kind]:
            document = _document(kind, rows[kind])
            table.add(document, map(str, document.values()))
    wrong = wrong_of(options.seed, options.feasible)
    failed = [f"{kind}: {one}" for kind, found in rows.items() for one in found if not one.is_right]
    count = sum(map(len, rows.values()))
    summary = {
        "contradictions": count,
        "right": count - len(failed),
        "longest_s": round(
            max((o.seconds for found in rows.values() for o in found), default=0), 2
        ),
        "feasible": options.feasible,
        "false": len(wrong),
    }
    lines = [
        "",
        f"{summary['right']} of {count} contradictions proven within {options.time_limit:g} s, "
        f"verified and explained by the right rule; the longest took {summary['longest_s']} s.",
        f"{len(wrong)} of {options.feasible} feasible instances called infeasible.",
    ]
    table.end(summary, lines)
    if wrong or failed:
        raise SlotwiseError("; ".join([*wrong, *failed]))


def _document(kind: str, rows: list[Proven]) -> dict[str, Any]:
    return {
        "kind": kind,
        "instances": len(rows),
        "most_tasks": max(row.tasks for row in rows),
        "proven": sum(row.proven for row in rows),
        "verified": sum(row.verified for row in rows),
        "rule_named": sum(row.named for row in rows),
        "explained": sum(row.explained for row in rows),
        "mean_s": round(sum(row.seconds for row in rows) / len(rows), 3),
        "longest_s": round(max(row.seconds for row in rows), 3),
    }
