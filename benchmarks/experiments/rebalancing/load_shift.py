"""StroMAX's reassignment: experiment ``stromax_rebalance``.

StroMAX's six topologies, placed by its bootstrap scheduler. Then the cpu of one component doubles,
in turn each of them, and cpu becomes soft: what runs is overloaded. `stromax-reassign` moves tasks;
beside it the least overload, then network cost, with as many moves, and with any number.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice

from slotwise.benchmarks.experiments.table import Table, number
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.families.stromax import SHAPES, make
from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import Placement, to_places
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import judged_running
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import plain
from slotwise.solver.core.result import Result
from slotwise.solver.rebalance.front import best_within
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.structure.matching import kept_running

BOOTSTRAP, REASSIGN = "stromax-bootstrap", "stromax-reassign"
COLUMNS = {
    "instance": "<22", "tasks": ">5", "overload": ">8", "moves": ">5", "StroMAX": ">8",
    "network": ">8", "after": ">7", "optimum": ">8", "bound": ">7", "network ": ">8", "free": ">6",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shifted:
    """One load shift; overload in points of cpu, ``None`` = nothing proven.

    Parameters
    ----------
    before, network_before
        Overload and network cost of what runs after the shift.
    moves, after, network_after
        Of StroMAX's reassignment.
    optimum, bound, network_optimum
        Least overload with as many moves, its proven bound, and its network cost.
    free
        Least overload that is proven possible with any number of moves.
    """

    name: str
    tasks: int
    before: float
    network_before: float
    moves: int
    after: float
    network_after: float
    optimum: float | None
    bound: float | None
    network_optimum: float | None
    free: float | None
    is_proven: bool

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        return (
            *(self.name, str(self.tasks), number(self.before, "g"), str(self.moves)),
            *(number(self.after, "g"), number(self.network_before, "g")),
            *(number(self.network_after, "g"), number(self.optimum, "g")),
            *(number(self.bound, "g"), number(self.network_optimum, "g"), number(self.free, "g")),
        )


def shifted(small: bool) -> Iterator[Instance]:
    """Yield each topology where it runs, with the cpu of one component doubled."""
    first = len(SHAPES) if small else 0
    for index in range(first, first + len(SHAPES)):
        instance = make(index, 0)
        problem = compile_problem(instance)
        placed = run_method(problem, find_method(BOOTSTRAP), seed=0)
        assert isinstance(placed, Placement), "the family fits its cluster"
        running = to_places(instance, placed)
        objective = Objective(("overload", "network"), soft={"cpu": 1})
        (topology,) = instance.topologies
        for heavy in topology.components:
            doubled = {**heavy.resources, "cpu": 2 * heavy.resources["cpu"]}
            components = tuple(
                replace(component, resources=doubled) if component is heavy else component
                for component in topology.components
            )
            yield replace(
                instance,
                name=f"{topology.id} {heavy.id}",
                topologies=(replace(topology, components=components),),
                running=running,
                objective=objective,
            )


def measured(instance: Instance, time_limit_s: float) -> Shifted:
    """Reassign as StroMAX does, and solve with as many moves and with any number."""
    problem = with_limit(instance, None)
    before = judged_running(problem)
    answer = run_method(problem, find_method(REASSIGN), seed=0)
    assert before is not None, "it has running"
    assert isinstance(answer, Placement), "every task runs and has cpu"
    fewest_moved = kept_running(problem, answer)
    after = judge(problem, fewest_moved)
    moves = int(after.parts["moved"])
    best = best_within(problem, moves, time_limit_s=time_limit_s, hint=fewest_moved)
    free = best_within(problem, problem.task_count, time_limit_s=time_limit_s)
    return Shifted(
        name=instance.name,
        tasks=problem.task_count,
        before=_value(before, 0),
        network_before=_value(before, 1),
        moves=moves,
        after=_value(after, 0),
        network_after=_value(after, 1),
        optimum=_found(best, 0),
        bound=None if best.objective[0].bound is None else plain(best.objective[0].bound),
        network_optimum=_found(best, 1),
        free=None if free.objective[0].bound is None else plain(free.objective[0].bound),
        is_proven=best.objective[0].proven,
    )


def _value(verdict: Verdict, term: int) -> float:
    return plain(verdict.objective[term].value)


def _found(result: Result, term: int) -> float | None:
    value = result.objective[term].value
    return None if value is None else plain(value)


def _summary(rows: Sequence[Shifted]) -> dict[str, float]:
    """Return the sums of the overload, and how many optima are proven."""
    return {
        "shifts": len(rows),
        "overloaded": sum(row.before > 0 for row in rows),
        "before": sum(row.before for row in rows),
        "after": sum(row.after for row in rows),
        "optimum": sum(row.optimum or 0 for row in rows),
        "moves": sum(row.moves for row in rows),
        "proven": sum(row.is_proven for row in rows),
    }


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this experiment."""
    parser.add_argument("--small", action="store_true", help="the topologies scaled down")
    parser.add_argument("--count", type=int, help="the first shifts only")
    parser.add_argument("--time-limit", type=float, default=20.0, metavar="S", help="of each solve")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Print the table."""
    table, rows = Table(COLUMNS, options.json), []
    for instance in islice(shifted(options.small), options.count):
        rows.append(measured(instance, options.time_limit))
        table.add(asdict(rows[-1]), rows[-1].cells())
    sums = _summary(rows)
    summary = (
        f"{sums['overloaded']} of {sums['shifts']} shifts overload nodes, by {sums['before']:g} "
        f"points in all. StroMAX leaves {sums['after']:g} after {sums['moves']} moves, the best "
        f"found with as many {sums['optimum']:g} (proven: {sums['proven']}).",
    )
    table.end(sums, summary)
