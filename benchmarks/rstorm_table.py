"""R-Storm's versions on its own topologies: ``python -m slotwise.benchmarks.rstorm_table``.

Two tables. The first: each method on the nine topologies of the family ``rstorm``, with the nodes
it uses, overload, network cost and the gap to what the exact engine proves. The second: the nodes
that each method uses for the topologies of section 6.3.2 of the article, beside the article's own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

from slotwise.benchmarks.gaps import Reference, gap_of
from slotwise.benchmarks.program import exit_code
from slotwise.benchmarks.report_data import gap_text
from slotwise.heuristics import HEURISTICS
from slotwise.heuristics.method import Method
from slotwise.heuristics.place import run_method
from slotwise.heuristics.registry import find_method
from slotwise.models.compile import compile_problem
from slotwise.models.instance import Instance
from slotwise.models.judge import judge
from slotwise.models.problem import Problem
from slotwise.models.refusal import Refusal
from slotwise.models.rstorm_family import RSTORM, Shape, instance_of
from slotwise.solver.solve import solve

METHODS = tuple(
    name
    for name in ("round-robin", "r-storm", "r-storm-1.0", "r-storm-pseudocode")
    if name in HEURISTICS
)
HEADS = ("instance", "method", "nodes", "overload", "network", "gap")
WIDTHS = (12, 20, 6, 9, 8, 18)


def _shape(name: str, sizes: dict[str, tuple[int, int]], streams: str) -> Shape:
    """Return a topology from component -> (parallelism, cpu) and ``a>b a>c``."""
    arrows = [stream.split(">") for stream in streams.split()]
    fed = {target for _, target in arrows}
    return Shape(
        id=name,
        components=tuple(
            (key, "bolt" if key in fed else "spout", *size) for key, size in sizes.items()
        ),
        streams=tuple((source, target, "shuffle") for source, target in arrows),
    )


LINEAR = "word>b1 b1>b2 b2>b3"
DIAMOND = "head>b1 head>b2 head>b3 head>b4 b1>out b2>out b3>out b4>out"
STAR = "s0>center s1>center center>o0 center>o1"

SECTION_6_3_2: dict[str, tuple[Shape, int]] = {
    "Linear": (
        _shape("linear", {"word": (4, 50), "b1": (6, 20), "b2": (6, 20), "b3": (6, 20)}, LINEAR),
        6,
    ),
    "Diamond": (
        _shape(
            "diamond",
            {
                "head": (2, 50),
                **dict.fromkeys(("b1", "b2", "b3"), (4, 20)),
                "b4": (4, 30),
                "out": (6, 30),
            },
            DIAMOND,
        ),
        7,
    ),
    "Star": (
        _shape(
            "star",
            {"center": (6, 20), "s0": (2, 50), "s1": (2, 50), "o0": (6, 20), "o1": (6, 20)},
            STAR,
        ),
        6,
    ),
}
"""The last version of each topology in the authors' sources, and the machines of the article.

github.com/jerrypeng/storm-resource-aware-topologies, May 2015. The article says "half of the
machines" for Star.
"""


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
        reference = Reference(
            terms=tuple(term.term for term in best.objective),
            bounds=tuple(term.bound for term in best.objective),
            optimal=sum(term.proven for term in best.objective),
            best=None,
        )
        nodes = None if best.placement is None else len(set(best.placement.nodes))
        overload, network = (None if value is None else int(value) for value in values)
        yield Line(instance.name, "exact", nodes, overload, network, str(best.status))
        for method in methods:
            yield _line(problem, method, reference)


def _line(problem: Problem, method: Method, reference: Reference) -> Line:
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
    gap = gap_text(gap_of(values, reference))
    return Line(name, method.name, len(set(answer.nodes)), overload, network, gap)


def nodes_used(instance: Instance, method: Method) -> int | None:
    """Return how many nodes the method's placement uses; ``None`` = it refuses."""
    answer = run_method(compile_problem(instance), method, 0)
    return None if isinstance(answer, Refusal) else len(set(answer.nodes))


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    methods = [find_method(name) for name in options.methods or METHODS]
    if not options.json:
        _print(_aligned(HEADS))
    for line in lines(methods, options.time_limit):
        _print(json.dumps(asdict(line)) if options.json else _aligned(_cells(line)))
    if not options.json:
        _print("\nnodes used in section 6.3.2:")
    for name, (shape, article) in SECTION_6_3_2.items():
        found = {one.name: nodes_used(instance_of(shape), one) for one in methods}
        if options.json:
            _print(json.dumps({"topology": name, "article": article, "nodes": found}))
        else:
            ours = ", ".join(f"{method} {nodes}" for method, nodes in found.items())
            _print(f"{name}: article {article}, {ours}")


def _cells(line: Line) -> tuple[str, ...]:
    numbers = (line.nodes, line.overload, line.network)
    return (
        line.instance,
        line.method,
        *("-" if number is None else str(number) for number in numbers),
        line.gap,
    )


def _aligned(cells: Sequence[str]) -> str:
    sized = zip(cells, WIDTHS, strict=True)
    padded = (f"{c:<{w}}" if i in (0, 1, 5) else f"{c:>{w}}" for i, (c, w) in enumerate(sized))
    return " ".join(padded).rstrip()


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m slotwise.benchmarks.rstorm_table",
        description="R-Storm's versions on its own topologies, beside the optimum and the article.",
    )
    made.add_argument(
        "--method",
        dest="methods",
        action="append",
        metavar="NAME",
        help=f"repeatable; default: {', '.join(METHODS)}",
    )
    made.add_argument(
        "--time-limit", type=float, default=20.0, metavar="S", help="of each exact solve"
    )
    made.add_argument("--json", action="store_true", help="one JSON object a line")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    options = parser().parse_args(arguments)
    return exit_code("rstorm_table", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
