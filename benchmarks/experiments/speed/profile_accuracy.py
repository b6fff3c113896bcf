"""How far ``profile`` is from the truth: experiment ``profile_accuracy``.

Tasks whose capacity is known by construction: one that sleeps for t seconds per tuple supports
threads / t tuples/s. Each is profiled; its model goes to MBA and SAM; the threads that they plan
are run, and what these support is compared with the prediction.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from slotwise.benchmarks.experiments.table import say
from slotwise.heuristics.sam.pairs import PAIRS, Planned, plan
from slotwise.models.allocation.load import Routing
from slotwise.models.allocation.plan import Plan
from slotwise.models.allocation.prediction import predict
from slotwise.models.dataflow import Dataflow, DataflowTask
from slotwise.models.performance.model import PerformanceModel
from slotwise.pipeline.profiling.settings import Settings
from slotwise.pipeline.profiling.sweep import model_of, next_rate, sweep
from slotwise.pipeline.profiling.trial import Trial, run_trial

SLEEPS_S = {"sleep_20_ms": 0.02, "sleep_50_ms": 0.05}
MODULE = "slotwise.benchmarks.experiments.speed.profile_accuracy"
SLOTS = Fraction(23, 10)
"""The rate to plan for, in peak rates of a slot: two full bundles and a smaller one."""


def sleep_20_ms(number: int) -> None:
    """Take 20 ms."""
    time.sleep(SLEEPS_S["sleep_20_ms"])


def sleep_50_ms(number: int) -> None:
    """Take 50 ms."""
    time.sleep(SLEEPS_S["sleep_50_ms"])


@dataclass(frozen=True, slots=True)
class Row:
    """What is expected and what was measured, tuples/s."""

    what: str
    expected: float
    measured: float

    def text(self) -> str:
        """Return a line of the table."""
        error = self.measured / self.expected - 1
        return f"{self.what:40} {self.expected:10.1f} {self.measured:10.1f} {error:+8.1%}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--seconds", type=float, default=2.0, help="of each trial (%(default)s)")
    parser.add_argument("--threads", default="1,2,4", help="numbers to try (%(default)s)")
    parser.add_argument("--task", choices=SLEEPS_S, help="profile only this")
    found_to = "peak rates are found to this part of themselves (%(default)s)"
    parser.add_argument("--resolution", type=float, default=Settings().resolution, help=found_to)


def run(options: argparse.Namespace) -> None:
    """Print expected and measured rates."""
    threads = tuple(map(int, options.threads.split(",")))
    settings = Settings(
        threads=threads, seconds=options.seconds, first_rate=10, resolution=options.resolution
    )
    say(f"{'':40} {'expected':>10} {'measured':>10} {'error':>8}")
    chosen = SLEEPS_S if options.task is None else {options.task: SLEEPS_S[options.task]}
    for name, seconds in chosen.items():
        task = f"{MODULE}:{name}"
        once = partial(run_trial, task, settings=settings)
        trials = list(sweep(once, settings, []))
        model, _ = model_of(name, trials)
        for measurement in model.measurements:
            row = Row(
                f"{name}, {measurement.threads} threads",
                measurement.threads / seconds,
                float(measurement.peak_rate),
            )
            say(row.text())
        planned = _plan(model)
        predicted = predict(planned, _dataflow(name), {name: model}, Routing.SLOT_AWARE).rate
        assert predicted is not None
        counts = [bundle.threads for slot in planned.slots for bundle in slot.bundles]
        supported = {n: _peak(task, n, predicted / len(counts), settings) for n in set(counts)}
        what = f"{name}, plan of {' + '.join(map(str, counts))} threads"
        total = sum(supported[n] for n in counts)
        say(Row(what, float(predicted), total).text())


def _dataflow(name: str) -> Dataflow:
    return Dataflow(name, (DataflowTask(name, name),), ())


def _plan(model: PerformanceModel) -> Plan:
    """Return what MBA and SAM plan for `SLOTS` times the best rate of a slot."""
    best = max(one.peak_rate for one in model.measurements)
    planned = plan(_dataflow(model.name), {model.name: model}, SLOTS * best, PAIRS["mba+sam"])
    assert isinstance(planned, Planned), planned
    return planned.plan


def _peak(task: str, threads: int, near: Fraction, settings: Settings) -> float:
    """Return the highest stable rate of a number of threads, looked for from a rate near it on."""
    finer = replace(settings, resolution=settings.resolution / 2)
    trials: list[Trial] = []
    start = float(f"{float(near) / 2:.3g}")
    while (rate := next_rate(trials, start, finer)) is not None:
        trials.append(run_trial(task, threads, rate, finer))
    return max((one.rate for one in trials if one.stable), default=0.0)
