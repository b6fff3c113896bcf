"""Storm's evictions beside exact ones: experiment ``ras_choices``.

Topologies of three users arrive one by one on a small cluster that fills up. After each arrival
Storm's scheduler does a round; wherever it evicted or refused, the exact counterparts of its
choice are found (`exact_round`): how many would have had to go, and which set of topologies is
best.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from decimal import Decimal

import numpy as np

from slotwise.benchmarks.experiments.table import say
from slotwise.heuristics.ras.scheduler import DecisionOutcome, Round, schedule_rounds
from slotwise.models.families.family import child_rng, draw
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance, Objective, Scheduler
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.solver.admission.exact_round import Counterpart, exact_counterparts
from slotwise.solver.core.result import Limits

NAME = "ras-choices"
NODES, SLOTS, CPU, MEMORY_MB = 6, 4, 400, 4096
"""Nodes, and what Storm assumes of one that says nothing (cpu and memory)."""

FIRST, LAST = 4, 12
"""Topologies in the first round and in the last."""

POOLS = {
    "ann": {"cpu": Decimal(800), "memory_mb": Decimal(8192)},
    "bob": {"cpu": Decimal(400), "memory_mb": Decimal(4096)},
}
"""What users are guaranteed; the third, eve, has nothing."""


@dataclass(frozen=True, slots=True)
class EvictionTally:
    """Counts over rounds.

    Parameters
    ----------
    rounds
        In which somebody was evicted or refused.
    let_in, evicted, least
        Topologies let in by eviction; how many Storm evicted for them; how many had to go.
    refused, fits, fits_by_eviction
        Refusals; those that would have fit without any eviction; with some behind them gone.
    sets, better
        Rounds whose best set is proven; those in which it is better than Storm's.
    open
        Questions that the time limit left open; they count nowhere else.
    """

    rounds: int = 0
    let_in: int = 0
    evicted: int = 0
    least: int = 0
    refused: int = 0
    fits: int = 0
    fits_by_eviction: int = 0
    sets: int = 0
    better: int = 0
    open: int = 0

    def __add__(self, other: EvictionTally) -> EvictionTally:
        """Return the sums."""
        return EvictionTally(
            *(getattr(self, f.name) + getattr(other, f.name) for f in fields(EvictionTally))
        )


def arrivals(index: int, seed: int) -> Iterator[Instance]:
    """Yield the cluster with `FIRST` topologies, then with one more each time, up to `LAST`."""
    rng = child_rng(NAME, seed, index)
    topologies = tuple(_topology(rng, number) for number in range(LAST))
    offered = {"cpu": Decimal(CPU), "memory_mb": Decimal(MEMORY_MB)}
    cluster = Cluster(
        tuple(Node(f"n{n}", f"r{n % 2}", slots=SLOTS, resources=offered) for n in range(NODES))
    )
    for count in range(FIRST, LAST + 1):
        yield Instance(
            name=f"{NAME}-{seed}-{index}-{count}",
            cluster=cluster,
            topologies=topologies[:count],
            scheduler=Scheduler(pools=POOLS),
            objective=Objective(("rejected",)),
        )


def _topology(rng: np.random.Generator, number: int) -> Topology:
    kinds = ["spout", *["bolt"] * draw(rng, 1, 2)]
    return Topology(
        id=f"t{number}",
        components=tuple(
            Component(
                f"c{i}",
                kind,
                draw(rng, 1, 4),
                {
                    "cpu": Decimal(10 * draw(rng, 1, 10)),
                    "onheap_mb": Decimal(128 * draw(rng, 1, 6)),
                },
            )
            for i, kind in enumerate(kinds)
        ),
        streams=tuple(Stream(f"c{i}", f"c{i + 1}") for i in range(len(kinds) - 1)),
        owner=("ann", "bob", "eve")[draw(rng, 0, 2)],
        priority=draw(rng, 0, 29),
        launch_time=number,
        worker_max_heap_mb=Decimal(2048),
    )


def compare(done: Round, limits: Limits) -> EvictionTally:
    """Return the counts of one round; nothing where it neither evicted nor refused."""
    if not any(one.evicted or one.outcome is DecisionOutcome.REFUSED for one in done.decisions):
        return EvictionTally()
    exact = exact_counterparts(done, limits)
    total = sum((_of_answer(answer) for answer in exact.answers), EvictionTally(rounds=1))
    if not exact.best.proven:
        return total + EvictionTally(open=1)
    return total + EvictionTally(sets=1, better=int(exact.best.cost < exact.cost))


def _of_answer(answer: Counterpart) -> EvictionTally:
    eviction, decision = answer.eviction, answer.decision
    if eviction is None or not eviction.status.settled:
        return EvictionTally(open=1)
    if decision.outcome is DecisionOutcome.SCHEDULED:
        least = len(eviction.evicted or ())
        return EvictionTally(let_in=1, evicted=len(decision.evicted), least=least)
    if eviction.evicted is None:
        return EvictionTally(refused=1)
    return EvictionTally(
        refused=1, fits=int(not eviction.evicted), fits_by_eviction=int(bool(eviction.evicted))
    )


def tally(count: int, seed: int, strategy: str | None, limits: Limits) -> EvictionTally:
    """Return the counts over `count` clusters."""
    total = EvictionTally()
    for index in range(count):
        for done in schedule_rounds(arrivals(index, seed), strategy=strategy):
            total += compare(done, limits)
    return total


def lines(total: EvictionTally) -> Iterator[str]:
    """Say what the counts are, for people."""
    yield f"{total.rounds} rounds with evictions or refusals."
    yield (
        f"{total.let_in} topologies let in by evicting {total.evicted}; "
        f"{total.least} would have been enough."
    )
    yield (
        f"{total.refused} refusals: {total.fits} would have fit without any eviction, "
        f"{total.fits_by_eviction} by evicting some behind them."
    )
    yield f"{total.better} of {total.sets} rounds have a better set of topologies."
    yield f"{total.open} questions left open by the time limit."


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--count", type=int, default=100, help="clusters")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strategy", help="of all topologies; default: ras-default")
    parser.add_argument("--time-limit", type=float, default=10.0, metavar="S", help="per question")
    parser.add_argument("--json", action="store_true")


def run(options: argparse.Namespace) -> None:
    """Count and print."""
    total = tally(options.count, options.seed, options.strategy, Limits(options.time_limit))
    for line in [json.dumps(asdict(total))] if options.json else lines(total):
        say(line)
