"""The cases: the article's micro dataflows, and seeded dataflows of many tasks."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

from slotwise.models.dataflow import Dataflow, DataflowTask, Stream
from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import PerformanceModel
from slotwise.solver.slots.problem import Counts, Variant

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
