"""Exact mean value analysis of closed queueing networks of several classes.

M. Reiser, S. S. Lavenberg, Mean-value analysis of closed multichain queuing networks, Journal of
the ACM 27(2), 1980. Exact for networks of product form (Baskett, Chandy, Muntz, Palacios 1975).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from slotwise.models.prediction.flows import FloatArray


def exact_mva(
    demand: FloatArray, delay: FloatArray, population: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Return throughputs and residence times of a closed network.

    Parameters
    ----------
    demand
        [C, K] seconds that a customer of a class is served by a station on its way round: of one
        server, either processor sharing, or FIFO with the same exponential service for all.
    delay
        [C] seconds that it spends where nobody waits.
    population
        Customers of each class, 0 or more.

    Returns
    -------
    tuple[FloatArray, FloatArray]
        [C] ways round per second; [C, K] seconds at each station, waiting included, on one way.
    """
    classes, stations = demand.shape
    throughput, residence = np.zeros(classes), np.zeros((classes, stations))
    queue: dict[tuple[int, ...], FloatArray] = {}
    for now in product(*(range(one + 1) for one in population)):
        throughput, residence = np.zeros(classes), np.zeros((classes, stations))
        for c, count in enumerate(now):
            if count:
                without = (*now[:c], count - 1, *now[c + 1 :])
                residence[c] = demand[c] * (1 + queue[without])
                throughput[c] = count / (delay[c] + residence[c].sum())
        queue[now] = throughput @ residence
    return throughput, residence
