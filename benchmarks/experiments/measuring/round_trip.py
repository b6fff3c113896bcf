"""From an instance to logs, a measured instance and back to an optimum.

experiment ``measured_round_trip``

Each instance runs at random places, its logs are simulated with noise, and its weights are measured
without knowing cpu, rates or sizes. The best placement of the measured instance is judged with the
true weights and compared with the true optimum; `gap` is relative to that. Exit code 1 if a gap is
above `MOST_GAP`.

Capacities are hard, so that the optimum jumps where a task just fits: no measurement of finite
length settles those instances. They are drawn again, and counted: the ones whose optimum is not the
same with all demands 2 % larger and 2 % smaller (`MARGIN`), between which every measurement that is
2 % right lies.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from slotwise.benchmarks.experiments.measuring.round_trip_instances import (
    draw_instance,
    draw_placement,
    with_demands,
    without_weights,
)
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import SlotwiseError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import whole
from slotwise.pipeline.simulated_logs.settings import KINDS, LogSettings
from slotwise.pipeline.simulated_logs.simulate import simulate
from slotwise.pipeline.spark.session import session
from slotwise.pipeline.statistics.weights.instance import measured_instance
from slotwise.pipeline.statistics.weights.logs import Settings, collect_logs
from slotwise.pipeline.statistics.weights.measure import measured_of
from slotwise.solver.core.result import Result, Status
from slotwise.solver.solve import solve

MOST_GAP = 0.01
MARGIN = Decimal("0.02")

COLUMNS = {
    "instance": "<16", "tasks": ">5", "optimum": ">12", "measured": ">12", "gap": ">9",
    "excess": ">8", "weights": ">8",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """What became of one instance.

    Parameters
    ----------
    instance, tasks
        Its name and size.
    optimum
        The true optimum of ``network``, proven.
    measured
        The true value of the measured instance's optimum.
    gap
        ``(measured - optimum) / optimum``; negative where the placement exceeds a capacity.
    excess
        How much of a capacity the placement exceeds at most, as a share; 0 where it is valid.
    weights
        Largest relative error of a measured demand, rate or size of a tuple.
    """

    instance: str
    tasks: int
    optimum: float
    measured: float
    gap: float
    excess: float
    weights: float


def run(options: argparse.Namespace) -> None:
    """Draw, simulate, measure, solve, judge and print."""
    whole(options.count, "--count", least=1)
    whole(options.buckets, "--buckets", least=2)
    truths, redrawn = _draw(options)
    table = Table(COLUMNS, options.json)
    trips = []
    for truth, measured in _measured(truths, options):
        comparison = compare(truth, measured, options.time_limit)
        cells = (
            *(
                comparison.instance,
                str(comparison.tasks),
                f"{comparison.optimum:.6g}",
                f"{comparison.measured:.6g}",
            ),
            *(
                f"{100 * share:.3f} %"
                for share in (comparison.gap, comparison.excess, comparison.weights)
            ),
        )
        table.add(asdict(comparison), cells)
        trips.append(comparison)
    beyond = [trip.instance for trip in trips if trip.gap > MOST_GAP or trip.excess > MOST_GAP]
    summary = {
        "instances": len(trips),
        "redrawn": redrawn,
        "optimal": sum(trip.gap == 0 and trip.excess == 0 for trip in trips),
        "exceeding": sum(trip.excess > 0 for trip in trips),
        "worst_gap": max(trip.gap for trip in trips),
        "worst_excess": max(trip.excess for trip in trips),
        "worst_weight": max(trip.weights for trip in trips),
        "beyond": beyond,
    }
    table.end(summary, [", ".join(f"{key} {value}" for key, value in summary.items())])
    if beyond:
        raise SlotwiseError(f"beyond {100 * MOST_GAP:g} %: {', '.join(beyond)}")


def _draw(options: argparse.Namespace) -> tuple[list[Instance], int]:
    """Return the instances, and how many were drawn again."""
    instances = []
    attempts = 0
    for index in range(options.count):
        for attempt in count():
            attempts += 1
            instance = draw_instance(index, attempt, options.seed)
            if options.keep_unsettled or is_settled(instance, options.time_limit):
                instances.append(instance)
                break
    return instances, attempts - options.count


def is_settled(instance: Instance, time_limit_s: float) -> bool:
    """Say whether demands that are right within `MARGIN` settle the optimum."""
    values = []
    for factor in (1 + MARGIN, 1 - MARGIN):
        problem = compile_problem(with_demands(instance, factor))
        result = solve(problem, time_limit_s=time_limit_s, seed=0, workers=1)
        values.append((result.status, [term.value for term in result.objective]))
    return values[0] == values[1] and values[0][0] is Status.OPTIMAL


def _measured(
    truths: list[Instance], options: argparse.Namespace
) -> list[tuple[Instance, Instance]]:
    """Return the true and the measured instances; the logs of all are read by one job."""
    with TemporaryDirectory(prefix="slotwise-round-trip-") as name:
        for index, truth in enumerate(truths):
            _write_logs(truth, index, Path(name) / str(index), options)
        blanks = [without_weights(one) for one in truths]
        with session(options.master, nullcontext()) as spark:
            settings = Settings(statistic=options.statistic)
            collected, _ = collect_logs(spark, Path(name), blanks, settings, None)
    return [
        (truth, measured_instance(one, measured_of(one, collected, settings.statistic, 60)))
        for truth, one in zip(truths, blanks, strict=True)
    ]


def _write_logs(truth: Instance, index: int, folder: Path, options: argparse.Namespace) -> None:
    placement = draw_placement(truth, index, options.seed)
    lines = options.buckets * 4 * len(placement.nodes)  # a task writes more than 4 in a bucket
    settings = LogSettings(
        lines=lines, seed=options.seed + index, kind=options.kind, noise=options.noise
    )
    simulate(truth, placement, settings, folder)


def compare(truth: Instance, measured: Instance, time_limit_s: float) -> RoundTrip:
    """Solve both, and judge the measured optimum with the true weights.

    Raises
    ------
    SlotwiseError
        When an optimum is not proven within the time limit.
    """
    best, measured_best = _optimum(truth, time_limit_s), _optimum(measured, time_limit_s)
    assert best.placement is not None, "proven"
    assert measured_best.placement is not None, "proven"
    problem = compile_problem(truth)
    optimum = Fraction(judge(problem, best.placement).parts["network"])
    value = Fraction(judge(problem, measured_best.placement).parts["network"])
    return RoundTrip(
        instance=truth.name,
        tasks=len(truth.task_names()),
        optimum=float(optimum),
        measured=float(value),
        gap=float((value - optimum) / optimum) if optimum else float(value),
        excess=excess(truth, measured_best.placement),
        weights=max(_errors(truth, measured)),
    )


def _optimum(instance: Instance, time_limit_s: float) -> Result:
    result = solve(compile_problem(instance), time_limit_s=time_limit_s, seed=0, workers=1)
    if result.status is not Status.OPTIMAL:
        raise SlotwiseError(f"{instance.name}: {result.status} within the time limit")
    return result


def excess(instance: Instance, placement: Placement) -> float:
    """Return the largest share by which a placement exceeds a capacity of a node."""
    loads = judge(compile_problem(instance), placement).node_loads()
    over = (
        load / capacity - 1
        for row in loads
        for name, load in row["load"].items()
        if (capacity := row["capacity"][name])
    )
    return max(0.0, max(over))


def _errors(truth: Instance, measured: Instance) -> list[float]:
    errors = [0.0]
    for true_topology, seen in zip(truth.topologies, measured.topologies, strict=True):
        for component, other in zip(true_topology.components, seen.components, strict=True):
            for name, value in component.resources.items():
                errors.append(abs(float(other.resources[name] / value) - 1))
        for stream, flow in zip(true_topology.streams, seen.streams, strict=True):
            pairs = ((stream.rate, flow.rate), (stream.tuple_bytes, flow.tuple_bytes))
            errors += [abs(float((b or 0) / a) - 1) for a, b in pairs if a]
    return errors


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--count", type=int, default=50, help="instances")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--buckets", type=int, default=30, help="minutes of logs, at least")
    parser.add_argument("--noise", type=float, default=0.05, help="of latencies and sizes")
    parser.add_argument("--kind", choices=KINDS, default="both")
    parser.add_argument("--statistic", default="mean", help="mean, p50, p95 or max")
    parser.add_argument(
        "--keep-unsettled", action="store_true", help="take also what is drawn again otherwise"
    )
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
