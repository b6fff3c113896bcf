"""R-Storm's versions on its own topologies: experiment ``rstorm_table``.

Two tables. The first: each method on the nine topologies of the family ``rstorm``, with the nodes
it uses, overload, network cost and the gap to what the exact engine proves. The second: the nodes
that each method uses for the topologies of section 6.3.2 of the article, beside the article's own.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

from slotwise.benchmarks.experiments.table import Table, say
from slotwise.benchmarks.judged.method_table import percent
from slotwise.heuristics.method import Method
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.families.rstorm import RSTORM, instance_of
from slotwise.models.families.rstorm_last_versions import SECTION_6_3_2
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Result
from slotwise.solver.solve import solve

METHODS = tuple(
    name
    for name in ("round-robin", "r-storm", "r-storm-1.0", "r-storm-pseudocode")
    if name in HEURISTICS
)
COLUMNS = {
    "instance": "<12", "method": "<20", "nodes": ">6", "overload": ">9", "network": ">8",
    "gap": "<18",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """What one method makes of one topology; without a placement `gap` is the reason."""

    instance: str
    method: str
    nodes: int | None
    overload: int | None
    network: int | None
    gap: str


def lines(methods: Sequence[Method], time_limit_s: float) -> Iterator[Line]:
    """Yield each topology's optimum, or the best found, and then what the methods make of it."""
    for instance in RSTORM.generate():
        problem = compile_problem(instance)
        best = solve(problem, time_limit_s=time_limit_s)
        values = tuple(term.value for term in best.objective)
        nodes = None if best.placement is None else len(set(best.placement.nodes))
        overload, network = (None if value is None else int(value) for value in values)
        yield Line(instance.name, "exact", nodes, overload, network, str(best.status))
        for method in methods:
            yield _line(problem, method, best)


def _line(problem: Problem, method: Method, best: Result) -> Line:
    name = problem.instance.name
    answer = run_method(problem, method, 0)
    if isinstance(answer, Refusal):
        return Line(name, method.name, None, None, None, f"refused: {answer.reason}")
    verdict = judge(problem, answer)
    if not verdict.valid:
        rule = f"breaks {verdict.violations[0].rule}"
        return Line(name, method.name, None, None, None, rule)
    values = tuple(Fraction(term.value) for term in verdict.objective)
    overload, network = map(int, values)
    nodes = len(set(answer.nodes))
    return Line(name, method.name, nodes, overload, network, _gap(values, best))


def _gap(values: Sequence[Fraction], best: Result) -> str:
    """Return how far values are above the bound of the first term in which they differ."""
    for value, term in zip(values, best.objective, strict=True):
        if term.bound is None:
            return "no bound"
        if value != term.bound:
            above = value - Fraction(term.bound)
            size = percent(float(above / Fraction(term.bound))) if term.bound else f"{above}"
            return f"+{size} {term.term}" + ("" if term.proven else " to bound")
    return "optimal"


def nodes_used(instance: Instance, method: Method) -> int | None:
    """Return how many nodes the method's placement uses; ``None`` = it refuses."""
    answer = run_method(compile_problem(instance), method, 0)
    return None if isinstance(answer, Refusal) else len(set(answer.nodes))


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    methods = [find_method(name) for name in options.methods or METHODS]
    table = Table(COLUMNS, options.json)
    for line in lines(methods, options.time_limit):
        cells = asdict(line)
        table.add(cells, ("-" if cell is None else str(cell) for cell in cells.values()))
    if not options.json:
        say("\nnodes used in section 6.3.2:")
    for name, (shape, article) in SECTION_6_3_2.items():
        used = {one.name: nodes_used(instance_of(shape), one) for one in methods}
        if options.json:
            say(json.dumps({"topology": name, "article": article, "nodes": used}))
        else:
            ours = ", ".join(f"{method} {nodes}" for method, nodes in used.items())
            say(f"{name}: article {article}, {ours}")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument(
        "--method",
        dest="methods",
        action="append",
        metavar="NAME",
        help=f"repeatable; default: {', '.join(METHODS)}",
    )
    parser.add_argument(
        "--time-limit", type=float, default=20.0, metavar="S", help="of each exact solve"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
