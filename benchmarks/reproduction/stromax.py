"""The figures of the StroMAX article: tuple processing times against those of another scheduler.

The article's time of a tuple is predicted and simulated as its latency, without windows. Section
5.1 takes the rate at which the mean cpu is above 50 %: here every task uses equally much cpu, as in
the family ``stromax``, and a node that is full uses that share of it. Of all 40 nodes it cannot be
the mean: those that StroMAX fills would be overloaded. What is not published stands in
``data/stromax.json``, the same for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache

from slotwise.benchmarks.reproduction.figure import Article, Figure, Reproduced, read_article
from slotwise.benchmarks.reproduction.placements import Outcome, Tried, best, excess, placed
from slotwise.models.families.stromax import (
    BOLT_TASKS,
    CPU,
    NODE_SLOTS,
    SHAPES,
    SPOUT_TASKS,
    make,
)
from slotwise.models.instance.cluster import LevelTimes
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.prediction.assumptions import Assumptions, with_assumptions
from slotwise.models.prediction.loads import MS_PER_S, POINTS_OF_A_CORE
from slotwise.models.tuples import channels, placeable, received
from slotwise.models.values import MAX_DECIMALS

Values = tuple[Fraction, ...]

TIME_LIMIT_S = 6.0
"""Of each proof."""
NAMES = tuple(shape.id for shape in SHAPES)


@dataclass(frozen=True, slots=True)
class Setting:
    """What runs on the article's 40 nodes, and which schedulers place it.

    Parameters
    ----------
    topologies
        Their names.
    method, base
        The compared schedulers.
    with_tasks
        Whether the topologies have the tasks of section 5.3, 5 a spout and 20 a bolt.
    """

    topologies: tuple[str, ...]
    method: str = "stromax-bootstrap"
    base: str = "round-robin"
    with_tasks: bool = False


def article() -> Article:
    """Return the published figures."""
    return read_article("stromax")


@cache
def assumed() -> Mapping[str, Decimal]:
    """Return what the article does not publish."""
    return {one.key: one.value for one in article().assumptions}


def instance(setting: Setting) -> Instance:
    """Return the topologies on the article's nodes, with their workload."""
    values = assumed()
    some = [make(NAMES.index(name), 0) for name in setting.topologies]
    topologies = [one.topologies[0] for one in some]
    whole = replace(
        some[0], topologies=tuple(_with_work(_sized(one, setting)) for one in topologies)
    )
    nothing, bandwidth = Decimal(0), values["interface_mbit_s"]
    assumptions = Assumptions(
        rate=values["rate"],
        service_scv=values["service_scv"],
        selectivity=values["selectivity"],
        tuple_bytes=values["tuple_bytes"],
        cores=int(values["cores"]),
        bandwidth_in_mbit_s=bandwidth,
        bandwidth_out_mbit_s=bandwidth,
        uplink_mbit_s=values["uplink_mbit_s"],
        serialise_ms=LevelTimes(nothing, nothing, values["serialise_ms"], values["serialise_ms"]),
        delay_ms=LevelTimes(nothing, nothing, values["delay_ms"], values["delay_ms"]),
    )
    return with_assumptions(whole, assumptions)[0]


def _sized(topology: Topology, setting: Setting) -> Topology:
    if topology.id == "tt":
        size = assumed()["tt_tuple_bytes"]
        streams = tuple(replace(one, tuple_bytes=size) for one in topology.streams)
        topology = replace(topology, streams=streams)
    if not setting.with_tasks:
        return topology
    sized = tuple(
        replace(component, parallelism=SPOUT_TASKS if component.kind == "spout" else BOLT_TASKS)
        for component in topology.components
    )
    return replace(topology, components=sized)


def _with_work(topology: Topology) -> Topology:
    """Return it with the times at which each of its tasks uses equally much cpu.

    Ten tasks of a full node use the share `full_cpu` of its points.
    """
    values, own = assumed(), placeable(0, topology)
    rates = {one.id: Fraction(values["rate"]) for one in topology.components if one.kind == "spout"}
    total = received(rates, channels(0, _sending(topology)), own)
    cores = Fraction(values["full_cpu"]) / 100 * CPU * NODE_SLOTS / POINTS_OF_A_CORE / NODE_SLOTS
    components = tuple(
        replace(
            component,
            service_ms=_decimal(cores * MS_PER_S * component.parallelism / total[component.id]),
        )
        for component in topology.components
    )
    return replace(topology, components=components)


def _sending(topology: Topology) -> Topology:
    selectivity = assumed()["selectivity"]
    streams = tuple(replace(one, selectivity=selectivity) for one in topology.streams)
    return replace(topology, streams=streams)


def _decimal(number: Fraction) -> Decimal:
    return round(Decimal(number.numerator) / Decimal(number.denominator), MAX_DECIMALS)


def network_alone(instance: Instance) -> Instance:
    """Return the instance with tuples that take no time but on their way between nodes."""
    nothing = Decimal(0)
    none = LevelTimes(nothing, nothing, nothing, nothing)
    topologies = tuple(
        replace(
            topology, components=tuple(replace(c, service_ms=nothing) for c in topology.components)
        )
        for topology in instance.topologies
    )
    return replace(
        instance, cluster=replace(instance.cluster, serialise_ms=none), topologies=topologies
    )


def reproduce(published: Article) -> list[Reproduced]:
    """Return every figure with ours."""
    return [_reproduced(figure) for figure in published.figures]


def _reproduced(figure: Figure) -> Reproduced:
    cases = dict(figure.of)
    topologies, names = tuple(cases.pop("topologies")), cases.pop("of")
    outcomes = outcomes_of(Setting(topologies, **cases))
    quantity = QUANTITIES[figure.quantity]

    def values(name: str, base: str = "base") -> Values | None:
        outcome, least = outcomes[name], outcomes[base]
        return None if outcome is None or least is None else quantity(outcome, least, names)

    ours = values("method")
    assert ours is not None, "every method places these topologies"
    return Reproduced(
        figure,
        ours,
        {
            "simulated": values("simulated method", "simulated base"),
            "network alone": values("method, network alone", "base, network alone"),
            "least network": values("least network"),
            "highest rate": values("highest rate"),
        },
    )


@cache
def outcomes_of(setting: Setting) -> Mapping[str, Outcome | None]:
    """Return what the placements reach; ``None`` for one that is not proven in time."""
    tried = Tried(instance(setting))
    network = Tried(network_alone(tried.instance))
    seconds = float(assumed()["simulated_s"])
    outcomes: dict[str, Outcome | None] = {}
    for name, method in (("method", setting.method), ("base", setting.base)):
        placement = placed(tried.instance, method)
        outcomes[name] = tried.predicted(placement)
        outcomes[f"{name}, network alone"] = network.predicted(placement)
        outcomes[f"simulated {name}"] = tried.simulated(placement, seconds)
    own = tried.instance.objective.terms
    for name, terms, proven in (
        ("least network", own, len(own)),
        ("highest rate", ("bottleneck", *own), 1),
    ):
        best_placement = best(tried.instance, terms, proven, TIME_LIMIT_S)
        outcomes[name] = None if best_placement is None else tried.predicted(best_placement)
    return outcomes


def processing_time(ours: Outcome, base: Outcome, topologies: Sequence[str]) -> Values:
    """Return by how much tuple processing times exceed those of the base, %, least first."""
    return tuple(sorted(excess(ours.latencies[one], base.latencies[one]) for one in topologies))


QUANTITIES: Mapping[str, Callable[..., Values]] = {"processing_time": processing_time}
"""Name -> function."""
