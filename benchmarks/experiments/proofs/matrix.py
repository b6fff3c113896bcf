"""Random assignment problems by matrices: experiment ``matrix_proofs``.

Quadratic assignment on grids of 12 to 15 facilities, and constrained assignment of 24 tasks to 8
nodes, each solved in a process of its own on one core. Prints, per instance,
the bound at the root of dual ascent and how far below our value it is, the same of the bound that
a short solve ends with, then value, bound, status, seconds, peak memory and engine. Compiled loops
are loaded before the root is timed.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from slotwise.benchmarks.experiments.proofs.engine_options import check_engine_options
from slotwise.benchmarks.experiments.proofs.isolated_run import NO_TERM, Measured, measure
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import instance_from_data
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import plain, short_text, whole
from slotwise.solver.assignment.model import make_assignment
from slotwise.solver.assignment.rlt_bound import make_state

GRIDS = ((12, 3, 4), (13, 2, 7), (14, 2, 7), (15, 3, 5))
"""Facilities, rows and columns."""
CTAP_KINDS = {"A": (100, 100), "B": (100, 10), "C": (10, 100), "D": (100, 0)}
"""Largest flow and largest cost of execution of Elloumi's four kinds."""


def grid_qap(seed: int) -> dict[str, Any]:
    """Quadratic assignment: facilities on the fields of a grid, distances along its lines.

    As Nugent et al. made them: flows of 0 to 10 between any two facilities, many of them 0.
    """
    rng = np.random.default_rng(seed)
    facilities, rows, columns = GRIDS[seed % len(GRIDS)]
    at = np.array([(r, c) for r in range(rows) for c in range(columns)])
    flow = [
        [i, j, int(rng.integers(1, 11))]
        for i in range(facilities)
        for j in range(i)
        if rng.random() < 0.6
    ]
    return {
        "format": "matrix-assignment",
        "name": f"grid-qap-{facilities}-{seed}",
        "weights": [[1]] * facilities,
        "capacities": [[1]] * len(at),
        "flow": flow,
        "distance": np.abs(at[:, None] - at[None]).sum(axis=2).tolist(),
        "linear": None,
    }


def constrained(seed: int, tasks: int = 24, nodes: int = 8) -> dict[str, Any]:
    """Constrained task assignment as Elloumi's: any two tasks communicate, all nodes are apart.

    Weights of 1 to 10, and one capacity: 1 to 2 times what a node would hold of them.
    """
    rng = np.random.default_rng(seed)
    kind = "ABCD"[seed % 4]
    most_flow, most_cost = CTAP_KINDS[kind]
    weights = rng.integers(1, 11, tasks)
    room = np.ceil(weights.sum() / nodes * rng.uniform(1.0, 2.0, nodes)).astype(int)
    linear = rng.integers(1, most_cost + 1, (tasks, nodes)).tolist() if most_cost else None
    return {
        "format": "matrix-assignment",
        "name": f"ctap-{tasks}x{nodes}-{kind}-{seed}",
        "weights": weights[:, None].tolist(),
        "capacities": room[:, None].tolist(),
        "flow": [
            [i, j, int(rng.integers(1, most_flow + 1))] for j in range(tasks) for i in range(j)
        ],
        "distance": (1 - np.eye(nodes, dtype=int)).tolist(),
        "linear": linear,
    }


COLUMNS = {
    "instance": "<20", "root": ">8", "in s": ">5", "below": ">7", "soon": ">8",
    "is below": ">8", "value": ">8", "bound": ">8",
    "gap": ">7", "status": "<10", "seconds": ">7", "MB": ">6", "engine": "<28",
}  # fmt: skip
PARTS = {"qap": (grid_qap, 20), "ctap": (constrained, 10)}
"""Generator, and number of instances."""
ROUNDS, LEAST_GAIN = 20, 0.0002
"""Of dual ascent between two looks at the clock; what they must gain of the bound to go on."""


@dataclass(frozen=True, slots=True)
class MatrixProof:
    """One instance: the bound at the root, that of a short solve, and what came of a long one."""

    root: float
    root_seconds: float
    short: Measured
    measured: Measured

    @property
    def soon(self) -> float | None:
        """The bound of the short solve; ``None`` = none."""
        terms = self.short.objective
        return terms[0].bound if terms else None

    def below(self, bound: float | None) -> float | None:
        """How far a bound is below our value, as a share; ``None`` = one of them is missing."""
        terms = self.measured.objective
        value = terms[0].value if terms else None
        return None if bound is None or not value else 1 - bound / value

    def to_document(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        root = {"root_bound": self.root, "root_seconds": self.root_seconds, "soon": self.soon}
        return {**self.measured.to_document(), **root}

    def cells(self) -> tuple[str, ...]:
        """One line of the table."""
        measured = self.measured
        term = measured.objective[0] if measured.objective else NO_TERM
        return (
            measured.instance,
            short_text(self.root),
            f"{self.root_seconds:.1f}",
            number(self.below(self.root), ".1%"),
            short_text(self.soon),
            number(self.below(self.soon), ".1%"),
            short_text(term.value),
            short_text(term.bound),
            number(measured.gap, ".1%"),
            measured.status,
            f"{measured.seconds:.1f}",
            number(measured.memory_mb, ".0f"),
            measured.error or measured.by or measured.engine,
        )


def root_bound(instance: Instance, seconds: float) -> tuple[float, float]:
    """Return the bound of dual ascent without an incumbent, and the seconds that it took.

    In units of the objective; until it stands still, or the time is over.
    """
    problem = compile_problem(instance)
    model = make_assignment(problem)
    make_state(model, model.largest_cost).ascend(1, 0.0)  # loads the compiled loops
    started = time.perf_counter()
    state = make_state(model, model.largest_cost)
    while True:
        before = state.bound
        state.ascend(ROUNDS, 0.0)
        spent = time.perf_counter() - started
        if spent >= seconds or state.bound - before <= LEAST_GAIN * state.bound:
            unit = problem.terms[model.term].unit
            return float(plain(state.value * unit)), spent


def run(options: argparse.Namespace) -> None:
    """Measure every instance and print it."""
    check_engine_options(options, "time_limit", "root_time_limit")
    whole(options.seed, "--seed")
    table, rows = Table(COLUMNS, options.json), []
    for part in PARTS if options.part == "all" else (options.part,):
        generate, count = PARTS[part]
        for seed in range(count if options.count is None else min(count, options.count)):
            instance = instance_from_data(generate(seed))
            soon = options.root_time_limit
            root = root_bound(instance, soon)
            short = measure(instance, options.engine, soon, options.seed)
            measured = measure(instance, options.engine, options.time_limit, options.seed)
            rows.append(MatrixProof(*root, short, measured))
            table.add(rows[-1].to_document(), rows[-1].cells())
    proven = sum(row.measured.proven for row in rows)
    table.end({"instances": len(rows), "proven": proven}, [f"{proven} of {len(rows)} proven"])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all")
    parser.add_argument("--count", type=int, metavar="N", help="of each part (default: all)")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S")
    parser.add_argument(
        "--root-time-limit",
        type=float,
        default=5.0,
        metavar="S",
        help="of the root, and of the short solve (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
