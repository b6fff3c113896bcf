"""Predictions against simulations of random placements: experiment ``prediction_agrees``.

Each placement of `random_workloads` is predicted and simulated, as long as it takes to complete
``--tuples`` tuples by the prediction, and as `LATENCIES` of the slowest spout's, after a tenth of
that to warm up. Errors are relative to the
simulation, one for each spout: of the throughput where there is a window (without one it is the
rate given), of the mean latency where no resource is in use above `BUSY` by the prediction.
``--rows FILE`` keeps what came of each placement: the same command goes on where it ended.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slotwise.benchmarks.experiments.agreement.random_workloads import drawn
from slotwise.benchmarks.experiments.table import Table, number
from slotwise.models.formats.row_file import RowFile
from slotwise.models.prediction.prediction import Prediction, predict
from slotwise.models.simulation.simulation import Run, simulate

LATENCIES = 50
"""Mean latencies of the slowest spout in the measured time, so that a batch holds two of them."""

BUSY = 0.85
"""Where a resource is in use above this, small errors of loads are large ones of latencies."""
OPEN, CLOSED = "open", "closed"
COLUMNS = {
    "number": ">6",
    "kind": "<6",
    "tasks": ">5",
    "topologies": ">10",
    "spout": "<6",
    "busiest": ">8",
    "tuples/s": ">10",
    "simulated": ">10",
    "error": ">8",
    "ms": ">9",
    "simulated ": ">10",
    "+-": ">7",
    "error ": ">8",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A spout, predicted and simulated.

    Parameters
    ----------
    number, seed, tuples
        Of the placement; how it was drawn and how long simulated.
    kind
        `OPEN` or `CLOSED`.
    tasks, topologies
        Of the instance, with ackers.
    spout
        Its topology.
    analysis
        How it was predicted.
    busiest
        Utilisation of the busiest resource, predicted.
    rate, simulated_rate, rate_half_width
        Tuples/s; the last of the simulation's interval.
    latency, simulated_latency, latency_half_width
        Of the mean, in ms.
    """

    number: int
    seed: int
    tuples: int
    kind: str
    tasks: int
    topologies: int
    spout: str
    analysis: str
    busiest: float
    rate: float
    simulated_rate: float
    rate_half_width: float
    latency: float
    simulated_latency: float
    latency_half_width: float

    @property
    def rate_error(self) -> float | None:
        """Relative error of the predicted throughput; ``None`` without a window."""
        return None if self.kind == OPEN else self.rate / self.simulated_rate - 1

    @property
    def latency_error(self) -> float:
        """Relative error of the predicted mean latency."""
        return self.latency / self.simulated_latency - 1


def compared(index: int, seed: int, tuples: int) -> list[Row]:
    """Predict and simulate one placement."""
    case = drawn(index, seed)
    prediction = predict(case.instance, case.placement)
    measured = simulate(case.instance, case.placement, _run(prediction, seed, tuples))
    busiest, analysis = prediction.bottleneck, prediction.analysis
    assert busiest is not None, "service takes time"
    assert analysis is not None, "rates are sustainable"
    rows = []
    for ours, theirs in zip(prediction.spouts, measured.spouts, strict=True):
        assert ours.rate is not None
        assert ours.latency is not None
        assert theirs.latency is not None, "there are tuples enough"
        rows.append(
            Row(
                index,
                seed,
                tuples,
                CLOSED if case.closed else OPEN,
                len(case.instance.task_names()),
                len(case.instance.topologies),
                ours.topology,
                analysis,
                busiest.utilisation,
                ours.rate,
                theirs.rate.mean,
                theirs.rate.half_width,
                ours.latency.mean,
                theirs.latency.mean,
                theirs.latency.half_width,
            )
        )
    return rows


def _run(prediction: Prediction, seed: int, tuples: int) -> Run:
    """Return a run that completes that many tuples of all spouts, if the prediction is right."""
    longest_ms = max(one.latency.mean for one in prediction.spouts if one.latency is not None)
    seconds = max(tuples / prediction.rate, LATENCIES * longest_ms / 1000)
    return Run(seconds, seconds / 10, seed)


def run(options: argparse.Namespace) -> None:
    """Compare every placement that has no rows yet, and print all."""
    table = Table(COLUMNS, options.json)
    file = RowFile(options.rows, Row)
    spouts_by_index: dict[int, dict[str, Row]] = {}
    for row in file.rows:
        if (row.seed, row.tuples) == (options.seed, options.tuples):
            spouts_by_index.setdefault(row.number, {})[row.spout] = row
    rows: list[Row] = []
    for index in range(options.first, options.first + options.count):
        measured = list(spouts_by_index.get(index, {}).values())
        # A run that was killed may have written some of them; each topology has one spout.
        if not measured or len(measured) < measured[0].topologies:
            measured = compared(index, options.seed, options.tuples)
            file.append(*measured)
        for row in measured:
            table.add(asdict(row), _cells(row))
        rows += measured
    summed = summary(rows)
    table.end(summed, _lines(summed))


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Return median and 95th percentile of the errors' sizes, by kind and what was predicted."""
    figures: dict[str, Any] = {"placements": len({row.number for row in rows})}
    rates = [abs(error) for row in rows if (error := row.rate_error) is not None]
    figures["throughput, closed"] = _sizes(rates)
    for kind in (OPEN, CLOSED):
        some = [row for row in rows if row.kind == kind and row.busiest <= BUSY]
        figures[f"latency, {kind}"] = _sizes([abs(row.latency_error) for row in some])
    quiet = [row for row in rows if row.busiest <= BUSY]
    figures["latency"] = _sizes([abs(row.latency_error) for row in quiet])
    busy = [abs(row.latency_error) for row in rows if row.busiest > BUSY]
    figures[f"latency where a resource is above {BUSY:.0%}"] = _sizes(busy)
    noise = [row.latency_half_width / row.simulated_latency for row in quiet]
    figures["half width of the simulated latency"] = _sizes(noise)
    return figures


def _sizes(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {"spouts": 0}
    median, high = np.quantile(values, (0.5, 0.95)).tolist()
    return {"spouts": len(values), "median": median, "p95": high, "worst": max(values)}


def _lines(summed: dict[str, Any]) -> Iterator[str]:
    yield f"{summed['placements']} placements"
    for name, sizes in summed.items():
        if name == "placements":
            continue
        if sizes["spouts"]:
            shown = (f"{key} {100 * sizes[key]:.1f} %" for key in ("median", "p95", "worst"))
            yield f"{name}: {', '.join(shown)} of {sizes['spouts']} spouts"
        else:
            yield f"{name}: none"


def _cells(row: Row) -> tuple[str, ...]:
    error = row.rate_error
    return (
        str(row.number),
        row.kind,
        str(row.tasks),
        str(row.topologies),
        row.spout,
        f"{row.busiest:.1%}",
        f"{row.rate:.1f}",
        f"{row.simulated_rate:.1f}",
        number(error, "+.1%"),
        f"{row.latency:.3f}",
        f"{row.simulated_latency:.3f}",
        f"{row.latency_half_width:.2g}",
        f"{row.latency_error:+.1%}",
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--count", type=int, default=300, help="how many placements")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--tuples", type=int, default=20_000, help="of all spouts, that a simulation completes"
    )
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="keep the results, and go on where FILE ends"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
