"""Least cuts of tiny graphs against exhaustive search: experiment ``partitions_agree``.

Random graphs of 1 to 8 vertices, connected or not, with weights of 0 among others, in 1 to 9 parts
of equal or different sizes, from perfect balance to twice the share, some of them infeasible. The
truth comes from all assignments of vertices to parts, counted here and by no engine.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict

import numpy as np

from slotwise.benchmarks.experiments.table import say
from slotwise.models.errors import SlotwiseError
from slotwise.models.graph_partition import PartitionProblem, balanced_capacities
from slotwise.solver.core.result import Status
from slotwise.solver.graph_partition import solve_partition

ENGINES = ("auto", "cp-sat", "milp")
BALANCES = ("1", "1.03", "1.1", "1.5", "2")
MOST_ASSIGNMENTS = 70_000


def tiny_problem(rng: np.random.Generator) -> PartitionProblem:
    """Draw a graph with at most `MOST_ASSIGNMENTS` assignments of its vertices to parts."""
    vertices, parts = int(rng.integers(1, 9)), int(rng.integers(1, 10))
    while parts**vertices > MOST_ASSIGNMENTS:
        parts -= 1
    light, heavy = (1, 2) if rng.random() < 0.4 else (0, int(rng.integers(2, 8)))
    weights = tuple(rng.integers(light, heavy, vertices).tolist())
    density, most = rng.random(), int(rng.integers(1, 10))
    edges = tuple(
        (low, high, int(rng.integers(0 if most > 7 else 1, most + 1)))
        for low in range(vertices)
        for high in range(low + 1, vertices)
        if rng.random() < density
    )
    equal = rng.random() < 0.7
    sizes = (1,) * parts if equal else tuple(rng.integers(1, 4, parts).tolist())
    balance = BALANCES[int(rng.integers(len(BALANCES)))]
    capacities = balanced_capacities(sum(weights), balance, sizes)
    return PartitionProblem(weights, edges, capacities, sizes)


def least_cut(problem: PartitionProblem) -> int | None:
    """Return the least cut of all assignments that keep the capacities; ``None`` = there is none.

    Needs a column for each of the parts^vertices assignments.
    """
    vertices, parts = len(problem.weights), len(problem.capacities)
    part = np.indices((parts,) * vertices).reshape(vertices, -1)
    weights = np.array(problem.weights)[:, None]
    fits = np.ones(part.shape[1], dtype=bool)
    for own, capacity in enumerate(problem.capacities):
        fits &= (weights * (part == own)).sum(axis=0) <= capacity
    cut = np.zeros(part.shape[1], dtype=np.int64)
    for low, high, weight in problem.edges:
        cut += weight * (part[low] != part[high])
    return int(cut[fits].min()) if fits.any() else None


def run(options: argparse.Namespace) -> None:
    """Ask every engine about each graph, and count.

    Raises
    ------
    SlotwiseError
        Where an engine claims what exhaustive search contradicts.
    """
    counts: dict[str, Counter[str]] = {engine: Counter() for engine in options.engines}
    wrong = 0
    for number in range(options.first, options.first + options.count):
        problem = tiny_problem(np.random.default_rng((options.seed, number)))
        truth = least_cut(problem)
        for engine in options.engines:
            result = solve_partition(
                problem, engine=engine, time_limit_s=options.time_limit, seed=options.seed
            )
            counts[engine][str(result.status)] += 1
            if result.status.settled and result.value != truth:
                wrong += 1
                request = json.dumps(asdict(problem), default=str)
                say(f"graph {number}: {engine} claims {result!r}, the truth is {truth}: {request}")
    for engine, count in counts.items():
        ended = {str(status): count[str(status)] for status in Status}
        if options.json:
            say(json.dumps({"engine": engine, "graphs": options.count, **ended}))
        else:
            counts_text = ", ".join(f"{number} {status}" for status, number in ended.items())
            say(f"{engine:<8} {options.count} graphs: {counts_text}")
    if wrong:
        raise SlotwiseError(f"{wrong} answers contradict exhaustive search")
    if not options.json:
        say("every claim is what exhaustive search finds")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--count", type=int, default=3000, help="how many graphs")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engines", nargs="+", default=ENGINES, metavar="NAME")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="per engine")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
