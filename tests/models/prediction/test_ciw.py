"""Thirty product-form networks against Ciw, a simulator of queueing networks.

Chains of bolts whose tasks are M/M/1 queues: Poisson arrivals, exponential service, shuffled
streams, each task alone on its node. Runs where the extra ``queues`` is installed; its wheel brings
a package ``tests`` that hides ours, so that it is better uninstalled afterwards.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from workloads import apart, bolt, node, spout, stream, topology, workload

from slotwise.models.prediction.prediction import predict

ciw = pytest.importorskip("ciw")
pytestmark = pytest.mark.slow

NETWORKS = 30
RUNS = 5
WARM_UP_S, MEASURED_S = 2.0, 12.0
T_99_9 = 8.610
"""Student's t of 4 degrees of freedom, 99.9 % two-sided: of 30 intervals all hold the truth."""


def drawn(index: int) -> tuple[float, list[dict[str, Any]]]:
    """Return the rate of the spout, and the bolts of a chain, in use to 30 to 80 %."""
    rng = np.random.default_rng((28, index))
    rate = float(rng.integers(200, 600))
    bolts = []
    for number in range(int(rng.integers(1, 4))):
        tasks = int(rng.integers(1, 4))
        busy = float(rng.uniform(0.3, 0.8))
        service_ms = round(1000 * busy * tasks / rate, 6)
        bolts.append(bolt(f"b{number}", tasks, service_ms=service_ms))
    return rate, bolts


def predicted_ms(rate: float, bolts: list[dict[str, Any]]) -> float:
    names = ["s", *(one["id"] for one in bolts)]
    chain = topology([spout("s", rate=rate), *bolts], [stream(a, b) for a, b in pairwise(names)])
    tasks = 1 + sum(one["parallelism"] for one in bolts)
    instance = workload([node(f"n{i}") for i in range(tasks)], [chain])
    (found,) = predict(instance, apart(instance)).spouts
    assert found.latency is not None
    return found.latency.mean


def simulated_ms(rate: float, bolts: list[dict[str, Any]], seed: int) -> float:
    """Return the mean time in the network, ms, of tuples that arrive after the warm-up."""
    of_bolt = [number for number, one in enumerate(bolts) for _ in range(one["parallelism"])]
    first = bolts[0]["parallelism"]
    routing = [
        [1 / bolts[a + 1]["parallelism"] if b == a + 1 else 0.0 for b in of_bolt] for a in of_bolt
    ]
    network = ciw.create_network(
        arrival_distributions=[
            ciw.dists.Exponential(rate / first) if number == 0 else None for number in of_bolt
        ],
        service_distributions=[
            ciw.dists.Exponential(1000 / bolts[number]["service_ms"]) for number in of_bolt
        ],
        number_of_servers=[1] * len(of_bolt),
        routing=routing,
    )
    ciw.seed(seed)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(WARM_UP_S + MEASURED_S)
    times: dict[int, tuple[float, float]] = {}
    ended = {}
    for record in simulation.get_all_records():
        begin, end = times.get(record.id_number, (np.inf, 0.0))
        times[record.id_number] = min(begin, record.arrival_date), max(end, record.exit_date)
        ended[record.id_number] = ended.get(record.id_number, 0) + 1
    whole = [
        1000 * (end - begin)
        for number, (begin, end) in times.items()
        if begin > WARM_UP_S and ended[number] == len(bolts)
    ]
    return float(np.mean(whole))


@pytest.mark.parametrize("index", range(NETWORKS))
def test_a_prediction_lies_in_the_interval_of_ciw(index: int) -> None:
    rate, bolts = drawn(index)
    runs = [simulated_ms(rate, bolts, 100 * index + run) for run in range(RUNS)]
    half = T_99_9 * float(np.std(runs, ddof=1)) / RUNS**0.5
    assert abs(predicted_ms(rate, bolts) - float(np.mean(runs))) <= half
    assert half < 0.6 * float(np.mean(runs)), "an interval that tells something"
