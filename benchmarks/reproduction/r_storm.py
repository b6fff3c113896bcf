"""The figures of the R-Storm article: its placements against those of Storm's even scheduler.

`throughput`, `cpu` and `machines` are the kinds of figures; their arguments stand in
``data/r-storm.json``, and so does what the article does not publish, the same for all rows. One
constant is calibrated, `tuple_bytes`, on Linear alone. Each figure is computed for R-Storm's
placement, predicted and simulated, and predicted for the placements that the solver proves to have
the least network cost and the highest rate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache

from slotwise.benchmarks.reproduction.figure import Article, Figure, Reproduced, read_article
from slotwise.benchmarks.reproduction.placements import Outcome, Tried, best, excess, placed
from slotwise.models.families.rstorm import TopologyShape, instance_of, shapes
from slotwise.models.families.rstorm_last_versions import SECTION_6_3_2
from slotwise.models.instance.cluster import Cluster, LevelTimes
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Topology
from slotwise.models.prediction.assumptions import Assumptions, with_assumptions

Values = tuple[Fraction, ...]

TIME_LIMIT_S = 6.0
"""Of each proof."""
TOPOLOGIES: Mapping[str, TopologyShape] = {
    **{shape.id: shape for shape in shapes()},
    **{shape.id: shape for shape, _ in SECTION_6_3_2.values()},
}
"""Name -> topology: the family's and the last versions of section 6.3.2."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What runs where.

    Parameters
    ----------
    topologies
        Their names.
    is_computing
        Whether a tuple takes time in proportion to the cpu that its component declares, or the
        little time of the network-bound topologies.
    machines
        Of the cluster, half of them in each rack.
    """

    topologies: tuple[str, ...]
    is_computing: bool = False
    machines: int = 12


def article() -> Article:
    """Return the published figures."""
    return read_article("r-storm")


@cache
def assumed() -> Mapping[str, Decimal]:
    """Return what the article does not publish."""
    return {one.key: one.value for one in article().assumptions}


def instance(
    setting: Setting, tuple_bytes: Decimal | None = None, window: int | None = None
) -> Instance:
    """Return the topologies on the article's machines, closed by their windows.

    Parameters
    ----------
    setting
        Which topologies and machines.
    tuple_bytes
        Bytes of a tuple; ``None`` = as calibrated.
    window
        Tuples in flight of a spout task; ``None`` = as assumed.
    """
    values = assumed()
    some = [instance_of(TOPOLOGIES[name]) for name in setting.topologies]
    most = int(values["window"]) if window is None else window
    whole = replace(
        some[0],
        cluster=_cluster(some[0].cluster, setting.machines),
        topologies=tuple(
            replace(_with_times(one.topologies[0], setting.is_computing), window=most)
            for one in some
        ),
    )
    nothing = Decimal(0)
    interface, uplink = values["interface_mbit_s"], values["uplink_mbit_s"]
    assumptions = Assumptions(
        service_scv=values["service_scv"],
        selectivity=values["selectivity"],
        tuple_bytes=values["tuple_bytes"] if tuple_bytes is None else tuple_bytes,
        cores=1,
        bandwidth_in_mbit_s=interface,
        bandwidth_out_mbit_s=interface,
        uplink_mbit_s=uplink,
        serialise_ms=LevelTimes(nothing, nothing, nothing, nothing),
        delay_ms=LevelTimes(nothing, nothing, values["rack_delay_ms"], values["cluster_delay_ms"]),
    )
    return with_assumptions(whole, assumptions)[0]


def _cluster(cluster: Cluster, machines: int) -> Cluster:
    """Return as many machines like the first one, half of them in each of two racks."""
    first = cluster.nodes[0]
    nodes = tuple(
        replace(first, id=f"node-{n}", rack=f"rack-{2 * n // machines}") for n in range(machines)
    )
    return replace(cluster, nodes=nodes)


def _with_times(topology: Topology, is_computing: bool) -> Topology:
    values = assumed()
    return replace(
        topology,
        components=tuple(
            replace(
                component,
                service_ms=component.resources["cpu"] * values["ms_per_point"]
                if is_computing
                else values["service_ms"],
            )
            for component in topology.components
        ),
    )


def without_windows(closed: Instance) -> Instance:
    """Return the instance with rates of its spouts in place of windows, for ``bottleneck``."""
    rate = assumed()["rate"]
    return replace(
        closed,
        topologies=tuple(
            replace(
                topology,
                window=None,
                components=tuple(
                    replace(part, rate=rate) if part.kind == "spout" else part
                    for part in topology.components
                ),
            )
            for topology in closed.topologies
        ),
    )


def calibrated(window: int | None = None, step: int = 100) -> int:
    """Return the bytes of a tuple at which Linear gains what is published.

    The least multiple of `step` at which it gains no more. Its gain
    falls with the bytes: the more there is to transmit, the less delays count.
    """
    linear, setting = article().figures[0], Setting(("linear",))
    assert linear.what.startswith("Linear, network")

    def gain(steps: int) -> Fraction:
        tried = Tried(instance(setting, Decimal(steps * step), window))
        base, ours = (tried.predicted(placed(tried.instance, one)) for one in METHODS)
        return throughput(ours, base, "linear")[0]

    low, high = 1, 1000
    while low < high:
        middle = (low + high) // 2
        if gain(middle) <= Fraction(linear.published[0]):
            high = middle
        else:
            low = middle + 1
    return low * step


METHODS = ("round-robin", "r-storm")
"""Default Storm and R-Storm."""


def reproduce(published: Article) -> list[Reproduced]:
    """Return every figure with ours."""
    return [_reproduced(figure) for figure in published.figures]


def _reproduced(figure: Figure) -> Reproduced:
    cases = dict(figure.of)
    setting = Setting(tuple(cases.pop("topologies")), **cases.pop("setting", {}))
    quantity = QUANTITIES[figure.quantity]
    outcomes = _outcomes(setting)

    def values(name: str, base: str) -> Values | None:
        outcome, least = outcomes[name], outcomes[base]
        return None if outcome is None or least is None else quantity(outcome, least, **cases)

    ours = values("r-storm", "round-robin")
    assert ours is not None, "every method places these topologies"
    return Reproduced(
        figure,
        ours,
        {
            "simulated": values("simulated r-storm", "simulated round-robin"),
            "least network": values("least network", "round-robin"),
            "highest rate": values("highest rate", "round-robin"),
        },
    )


@cache
def _outcomes(setting: Setting) -> Mapping[str, Outcome | None]:
    """Return what the placements reach; ``None`` for one that is not proven in time."""
    tried = Tried(instance(setting))
    own = tried.instance.objective.terms
    outcomes: dict[str, Outcome | None] = {}
    seconds = float(assumed()["simulated_s"])
    for name in METHODS:
        placement = placed(tried.instance, name)
        outcomes[name] = tried.predicted(placement)
        outcomes[f"simulated {name}"] = tried.simulated(placement, seconds)
    for name, problem, terms, proven in (
        ("least network", tried.instance, own, len(own)),
        ("highest rate", without_windows(tried.instance), ("bottleneck", *own), 1),
    ):
        best_placement = best(problem, terms, proven, TIME_LIMIT_S)
        outcomes[name] = None if best_placement is None else tried.predicted(best_placement)
    return outcomes


def throughput(ours: Outcome, base: Outcome, topology: str) -> Values:
    """Return by how much the tuples/s of a topology exceed those of default Storm, %.

    Each output bolt receives the same multiple of what the spouts emit under every placement, so
    that their mean has the same ratio.
    """
    return (excess(ours.rates[topology], base.rates[topology]),)


def cpu(ours: Outcome, base: Outcome) -> Values:
    """Return by how much the mean CPU utilisation of the machines in use exceeds it, %."""
    return (excess(ours.cpu, base.cpu),)


def machines(ours: Outcome, base: Outcome) -> Values:
    """Return the machines in use."""
    return (Fraction(ours.machines),)


QUANTITIES: Mapping[str, Callable[..., Values]] = {
    function.__name__: function for function in (throughput, cpu, machines)
}
"""Name -> function."""
