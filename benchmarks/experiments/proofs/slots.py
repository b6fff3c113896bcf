"""Seconds to the fewest slots: experiment ``slots``.

Three parts: each micro dataflow at the article's rates under each variant, beside the known
optimum; the curve of slots over 200 rates; dataflows of 20 tasks at 10,000 tuples/s. The exit code
is 1 where a known optimum is not proven.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from slotwise.benchmarks.experiments.table import say
from slotwise.models.allocation.load import Routing
from slotwise.models.cancellation import CancellationToken
from slotwise.models.dataflow import Dataflow, DataflowTask, Stream
from slotwise.models.errors import SlotwiseError
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import PerformanceModel
from slotwise.solver.core.result import Status
from slotwise.solver.slots.curve import slots_curve
from slotwise.solver.slots.problem import Counts, Variant
from slotwise.solver.slots.result import SlotResult
from slotwise.solver.slots.solve import SlotSolver

RATES = (50, 100, 200)
"""Of the article's tables, tuples/s."""

VARIANTS = {
    "scaled by load": Variant(),
    "full bundles exclusive": Variant(counts=Counts.MEASURED, exclusive=True),
    "not scaled, measured counts": Variant(counts=Counts.MEASURED, scaled=False),
    "not scaled": Variant(scaled=False),
}

KNOWN = {
    "scaled by load": {"linear": (3, 5, 10), "diamond": (4, 7, 14), "star": (3, 6, 12)},
    "full bundles exclusive": {"linear": (3, 6, 11), "diamond": (4, 8, 15), "star": (3, 6, 12)},
    "not scaled, measured counts": {
        "linear": (5, 7, 12),
        "diamond": (6, 9, 17),
        "star": (5, 8, 14),
    },
    "not scaled": {"linear": (4, 6, 11), "diamond": (5, 9, 16), "star": (4, 7, 14)},
}
"""Slots at `RATES`."""


def large(seed: int, tasks: int = 20) -> tuple[Dataflow, dict[str, PerformanceModel]]:
    """Return a random DAG whose models are the article's with other speeds and loads.

    Tasks have one or two predecessors among the three before; a model is that of a task of the
    article, 2 to 12 times as fast, with CPU and memory of half to all of what they were.
    """
    rng = random.Random(seed)
    kinds = sorted(article_models().items())
    models = {}
    nodes = [DataflowTask("source", None)]
    streams = []
    for number in range(tasks):
        _, model = rng.choice(kinds)
        models[f"m{number}"] = _varied(model, f"m{number}", rng)
        nodes.append(DataflowTask(f"t{number}", f"m{number}"))
        before = [one.name for one in nodes[-4:-1]]
        chosen = sorted(rng.sample(before, min(len(before), rng.choice((1, 2)))))
        streams += [Stream(one, f"t{number}", Fraction(1, len(chosen))) for one in chosen]
    return Dataflow(f"large-{seed}", tuple(nodes), tuple(streams)), models


def _varied(model: PerformanceModel, name: str, rng: random.Random) -> PerformanceModel:
    speed = rng.randint(2, 12)
    cpu, memory = Fraction(rng.randint(50, 100), 100), Fraction(rng.randint(50, 100), 100)
    return PerformanceModel(
        name,
        tuple(
            replace(
                measurement,
                peak_rate=measurement.peak_rate * speed,
                cpu=measurement.cpu * cpu,
                memory=measurement.memory * memory,
            )
            for measurement in model.measurements
        ),
    )


CURVE = tuple(Fraction(2 * step) for step in range(1, 201))
LARGE_RATE = Fraction(10_000)


def micro(limit_s: float) -> Iterator[tuple[str, bool]]:
    """Yield a line per dataflow, rate and variant, and whether the known optimum was proven."""
    for name, variant in VARIANTS.items():
        for dataflow in MICRO_DAGS.values():
            for rate, published in zip(RATES, KNOWN[name][dataflow.name], strict=True):
                solver = SlotSolver(dataflow, article_models(), variant)
                result = solver.fewest_slots(Fraction(rate), token=_after(limit_s))
                proven = result.status is Status.OPTIMAL and result.slots == published
                yield (
                    f"{dataflow.name:8} {rate:4} {name:28} {_shown(result)}, {published} known",
                    proven,
                )


def shuffle(limit_s: float) -> Iterator[tuple[str, bool]]:
    """Yield a line per dataflow and rate under shuffle grouping."""
    for dataflow in MICRO_DAGS.values():
        for rate in RATES:
            solver = SlotSolver(dataflow, article_models(), Variant(routing=Routing.SHUFFLE))
            result = solver.fewest_slots(Fraction(rate), token=_after(limit_s))
            yield f"{dataflow.name:8} {rate:4} {'shuffle grouping':28} {_shown(result)}", True


def curves(limit_s: float) -> Iterator[tuple[str, bool]]:
    """Yield a line per micro dataflow: its curve over `CURVE`."""
    for dataflow in MICRO_DAGS.values():
        begun = time.perf_counter()
        solver = SlotSolver(dataflow, article_models())
        points = slots_curve(solver, CURVE, token=_after(limit_s))
        proven = sum(one.status is Status.OPTIMAL for one in points)
        apart = max((one.slots or one.bound) - one.bound for one in points)
        seconds = time.perf_counter() - begun
        yield (
            f"{dataflow.name:8} {len(CURVE)} rates: {proven} proven, the others within {apart} "
            f"slots, {seconds:.1f} s",
            True,
        )


def large_dataflows(limit_s: float, count: int) -> Iterator[tuple[str, bool]]:
    """Yield a line per dataflow of 20 tasks."""
    for seed in range(count):
        dataflow, models = large(seed)
        solver = SlotSolver(dataflow, models)
        result = solver.fewest_slots(LARGE_RATE, token=_after(limit_s))
        yield f"{dataflow.name} {int(LARGE_RATE)} tuples/s: {_shown(result)}", True


def _after(seconds: float) -> CancellationToken:
    return CancellationToken(time.perf_counter() + seconds)


def _shown(result: SlotResult) -> str:
    gap = "" if result.slots is None else f", gap {1 - result.bound / result.slots:.2%}"
    slots = "no plan" if result.slots is None else f"{result.slots} slots"
    return f"{slots}, bound {result.bound}{gap}, {result.seconds:.2f} s"


PARTS = ("micro", "shuffle", "curves", "large")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--part", action="append", choices=PARTS, help="default: all")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="of each")
    parser.add_argument("--count", type=int, default=3, help="large dataflows")


def run(options: argparse.Namespace) -> None:
    """Run the parts and print their lines."""
    lines = {
        "micro": micro(options.time_limit),
        "shuffle": shuffle(min(10.0, options.time_limit)),
        "curves": curves(options.time_limit),
        "large": large_dataflows(options.time_limit, options.count),
    }
    failed = 0
    for part in options.part or PARTS:
        for line, good in lines[part]:
            say(f"{line}{'' if good else '  FAILED'}")
            failed += not good
    if failed:
        raise SlotwiseError(f"{failed} known optima are not proven")
