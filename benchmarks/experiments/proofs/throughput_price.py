"""What throughput costs in network, and network in throughput: experiment ``throughput_price``.

Each instance of a family is solved twice: the highest sustainable rate first (``bottleneck``) and
the family's own objective among those placements, then the other way round. Beside them stand the
published schedulers. The families say nothing of tuples; `with_workload` adds a workload by one
rule: a spout emits `RATE` tuples/s, every stream carries one tuple for each that its sender
receives, and at these rates a task uses just the cpu that the instance declares for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from statistics import median
from typing import Any

from slotwise.benchmarks.experiments.table import Table, number
from slotwise.heuristics.ours import HEURISTICS
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.families.family import Family
from slotwise.models.families.rstorm import RSTORM
from slotwise.models.families.storm_like_family import STORM_LIKE
from slotwise.models.families.stromax import SHAPES, STROMAX
from slotwise.models.instance.cluster import LevelTimes
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance.topology import Topology
from slotwise.models.judge.judge import judge
from slotwise.models.prediction.assumptions import Assumptions, with_assumptions
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.tuples import channels, placeable, received
from slotwise.models.values import MAX_DECIMALS, whole
from slotwise.solver.core.result import Result
from slotwise.solver.solve import solve

RATE = 10_000
"""Tuples/s that each spout emits."""
POINT_MS = 10
"""Milliseconds of a core per second that a point of cpu is."""
UPLINK = 10
"""Bandwidth of a rack's uplink, in network interfaces."""
METHODS = ("round-robin", "r-storm", "ras-default", "stromax-global")
"""Published schedulers; one that does not apply to an instance, or leaves it unplaced, has no
figures there."""


@dataclass(frozen=True, slots=True)
class Studied:
    """A family: how many of its instances, and its network interfaces in Mbit/s."""

    family: Family[Instance]
    count: int
    mbit_s: int


STUDIED = {
    "rstorm": Studied(RSTORM, 9, 100),
    "stromax": Studied(STROMAX, len(SHAPES), 1000),
    "storm-like": Studied(STORM_LIKE, 100, 1000),
}
"""Interfaces as in the articles; those of ``storm-like`` are assumed."""
COLUMNS = {
    "instance": "<28",
    "tasks": ">5",
    "nodes": ">5",
    "rate": ">8",
    "network": ">9",
    "least": ">9",
    "its rate": ">9",
    "rate given": ">10",
    "network given": ">13",
    **dict.fromkeys(METHODS, ">18"),
}


@dataclass(frozen=True, slots=True)
class Point:
    """What a placement reaches.

    Parameters
    ----------
    rate
        Highest sustainable multiple of the given rates.
    network
        Network cost.
    most_rate
        What is proven of it: no placement that is as good in the terms before reaches more;
        ``None`` = nothing.
    least_network
        The same of the network cost, from below.
    seconds
        That it took.
    """

    rate: float
    network: float
    most_rate: float | None = None
    least_network: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """An instance.

    Parameters
    ----------
    fastest, cheapest
        The placements of highest rate, and of least network cost, each best in the other then.
    methods
        What the published schedulers reach; ``None`` where one has no valid placement.
    """

    instance: str
    tasks: int
    nodes: int
    fastest: Point
    cheapest: Point
    methods: Mapping[str, Point | None]

    @property
    def rate_given(self) -> float:
        """Share of the highest rate that the placement of least network cost gives away."""
        return 1 - self.cheapest.rate / self.fastest.rate

    @property
    def network_given(self) -> float | None:
        """Network cost of the fastest placement above the least; ``None`` where that is 0."""
        least = self.cheapest.network
        return self.fastest.network / least - 1 if least else None

    def is_proven(self, point: Point, *, first_is_rate: bool) -> tuple[bool, bool]:
        """Return whether the first, and the second, figure of a point is proven."""
        rate, network = point.most_rate == point.rate, point.least_network == point.network
        return (rate, network) if first_is_rate else (network, rate)


def with_workload(instance: Instance, mbit_s: int, tuple_bytes: int) -> Instance:
    """Return the instance with a workload; see above.

    Times are rounded to the decimals that an instance has. Sending takes no cpu.
    """
    bandwidth, nothing = Decimal(mbit_s), LevelTimes(*(Decimal(0),) * 4)
    assumed = Assumptions(
        rate=Decimal(RATE),
        selectivity=Decimal(1),
        tuple_bytes=Decimal(tuple_bytes),
        bandwidth_in_mbit_s=bandwidth,
        bandwidth_out_mbit_s=bandwidth,
        serialise_ms=nothing,
        uplink_mbit_s=UPLINK * bandwidth,
    )
    filled, _ = with_assumptions(instance, assumed)
    return replace(
        filled, topologies=tuple(_with_times(t, one) for t, one in enumerate(filled.topologies))
    )


def _with_times(t: int, topology: Topology) -> Topology:
    own = placeable(t, topology)
    rates = {name: Fraction(one.noun.rate or 0) for name, one in own.items()}
    total = received(rates, channels(t, topology), own)
    components = []
    for component in topology.components:
        ms = Decimal(0)
        if total.get(component.id):
            exact = (
                Fraction(component.resources.get("cpu", Decimal(0)))
                * POINT_MS
                * component.parallelism
            )
            exact /= total[component.id]
            ms = round(Decimal(exact.numerator) / Decimal(exact.denominator), MAX_DECIMALS)
        components.append(replace(component, service_ms=ms))
    return replace(topology, components=tuple(components))


def studied(instance: Instance, time_limit_s: float, methods: Sequence[str], seed: int) -> Row:
    """Return the row of an instance with a workload; the time limit is that of each solve."""
    own = instance.objective.terms
    orders = [_problem(instance, terms) for terms in (("bottleneck", *own), (*own, "bottleneck"))]
    placed = {name: _placed(orders[0], name, seed) for name in methods}
    fastest, cheapest = (_solved(one, placed.values(), time_limit_s, seed) for one in orders)
    return Row(
        instance.name,
        orders[0].task_count,
        orders[0].node_count,
        fastest,
        cheapest,
        {name: _point(orders[0], one) if one else None for name, one in placed.items()},
    )


def _problem(instance: Instance, terms: tuple[str, ...]) -> Problem:
    return compile_problem(replace(instance, objective=replace(instance.objective, terms=terms)))


def _solved(
    problem: Problem, starts: Iterable[Placement | None], limit_s: float, seed: int
) -> Point:
    """Return what a solve reaches that starts from the best of the known placements."""
    best = min(filter(None, starts), key=lambda one: judge(problem, one).scaled, default=None)
    result = solve(problem, time_limit_s=limit_s, seed=seed, hint=best)
    assert result.placement is not None, "every method finds a placement of these families"
    by_term = {term.term: term for term in result.objective}
    rate, network = by_term["bottleneck"], by_term["network"]
    assert rate.value is not None
    assert network.value is not None
    return Point(
        float(1 / rate.value),
        float(network.value),
        None if not rate.bound else float(1 / rate.bound),
        None if network.bound is None else float(network.bound),
        _seconds(result),
    )


def _seconds(result: Result) -> float:
    return round(result.seconds, 1)


def _placed(problem: Problem, name: str, seed: int) -> Placement | None:
    """Return a method's valid placement; ``None`` where it has none."""
    placement = run_method(problem, HEURISTICS[name], seed)
    if isinstance(placement, Refusal) or not judge(problem, placement).valid:
        return None
    return placement


def _point(problem: Problem, placement: Placement) -> Point:
    parts = judge(problem, placement).parts
    return Point(float(1 / parts["bottleneck"]), float(parts["network"]))


def run(options: argparse.Namespace) -> None:
    """Study the instances and print them."""
    chosen = STUDIED[options.family]
    count = chosen.count if options.count is None else whole(options.count, "--count", least=1)
    table = Table(COLUMNS, options.json)
    rows, refused = [], []
    for index in range(options.first, min(options.first + count, chosen.count)):
        instance = chosen.family.make(index, 0)
        loaded = with_workload(instance, chosen.mbit_s, options.tuple_bytes)
        try:
            row = studied(loaded, options.time_limit, METHODS, options.seed)
        except InputError as error:  # more than 2^53 steps
            refused.append(f"{instance.name}: {error}")
            continue
        table.add(asdict(row) | summary([row]), _cells(row))
        rows.append(row)
    figures = summary(rows) | {"refused": refused}
    table.end(figures, _lines(figures))


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how many figures are proven, and medians of what is given away."""
    fastest = [row.is_proven(row.fastest, first_is_rate=True) for row in rows]
    cheapest = [row.is_proven(row.cheapest, first_is_rate=False) for row in rows]
    prices = [price for row in rows if (price := row.network_given) is not None]
    return {
        "instances": len(rows),
        "highest rate proven": sum(first for first, _ in fastest),
        "its network proven": sum(all(both) for both in fastest),
        "least network proven": sum(first for first, _ in cheapest),
        "its rate proven": sum(all(both) for both in cheapest),
        "rate given away, median": median(row.rate_given for row in rows) if rows else None,
        "network given away, median": median(prices) if prices else None,
        **{
            f"{name}, {what}": median(values) if values else None
            for name in METHODS
            for what, values in _of_method(rows, name).items()
        },
    }


def _of_method(rows: Sequence[Row], name: str) -> dict[str, list[float]]:
    """Return its shares of the highest rate, and what its network costs above the least."""
    points = [(row, point) for row in rows if (point := row.methods[name]) is not None]
    return {
        "of the rate": [point.rate / row.fastest.rate for row, point in points],
        "above the network": [
            point.network / row.cheapest.network - 1
            for row, point in points
            if row.cheapest.network
        ],
    }


def _lines(figures: Mapping[str, Any]) -> Iterator[str]:
    for name, value in figures.items():
        share = number(value, ".1%") if isinstance(value, float) or value is None else str(value)
        yield f"{name}: {share}"


def _cells(row: Row) -> Iterator[str]:
    """Yield the cells; a star stands by what is not proven."""
    proven = row.is_proven(row.fastest, first_is_rate=True)
    cheap = row.is_proven(row.cheapest, first_is_rate=False)
    yield from (row.instance, str(row.tasks), str(row.nodes))
    yield f"{row.fastest.rate:.4g}{_star(proven[0])}"
    yield f"{row.fastest.network:g}{_star(all(proven))}"
    yield f"{row.cheapest.network:g}{_star(cheap[0])}"
    yield f"{row.cheapest.rate:.4g}{_star(all(cheap))}"
    yield f"{row.rate_given:.1%}"
    yield number(row.network_given, "+.1%")
    for name in METHODS:
        shares = [values[0] for values in _of_method([row], name).values() if values]
        rate, *above = shares or (None,)
        yield number(rate, ".1%") + "".join(f" {one:+.1%}" for one in above)


def _star(proven: bool) -> str:
    return "" if proven else "*"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--family", choices=STUDIED, default="rstorm")
    parser.add_argument("--count", type=int, default=None, help="instances; default: all")
    parser.add_argument("--first", type=int, default=0, metavar="INDEX", help="of the first one")
    parser.add_argument("--tuple-bytes", type=int, default=1000, help="of every tuple")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="per solve")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
