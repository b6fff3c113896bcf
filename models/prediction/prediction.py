"""What a placement is worth: rates, latencies, utilisations, and what limits them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np

from slotwise.models.display import block
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.accounting import account
from slotwise.models.judge.judge import check_shape
from slotwise.models.prediction.assumptions import Assumed, Assumptions, with_assumptions
from slotwise.models.prediction.flows import FloatArray, Flows, flows
from slotwise.models.prediction.latency import Time
from slotwise.models.prediction.loads import MS_PER_S, Loads, Resource, loads
from slotwise.models.prediction.queueing import Bound, solve
from slotwise.models.problem.compile import compiled
from slotwise.models.problem.problem import Problem
from slotwise.models.tuples import needed
from slotwise.models.values import NO_LIMIT, plain, short_text


@dataclass(frozen=True, slots=True)
class Latency:
    """Mean time of a spout's tuples in ms, from emission until all that follows is processed.

    Parameters
    ----------
    queueing
        Waiting for threads, for cores in use by other threads, and for the network.
    service
        Being processed.
    serialisation
        Being sent, which keeps the sender's thread busy.
    network
        Delay and transmission.
    synchronisation
        What the slowest of parallel branches takes longer than the one that is longest in the mean.
    """

    queueing: float
    service: float
    serialisation: float
    network: float
    synchronisation: float

    @property
    def mean(self) -> float:
        """The sum of the parts."""
        parts = self.queueing + self.service + self.serialisation
        return parts + self.network + self.synchronisation


@dataclass(frozen=True, slots=True)
class PredictedSpout:
    """What becomes of the tuples of one spout.

    Parameters
    ----------
    topology, component
        Its ids.
    window
        Most tuples of each of its tasks in flight; ``None`` = no limit.
    rate
        Tuples/s that its tasks emit together: those given where there is no window. ``None`` for a
        spout with a window where the rates of those without are not sustainable: what they leave
        it is not predicted.
    latency
        ``None`` where the rates of the sources are not sustainable: it would grow for ever.
    rate_at_most, latency_at_least
        Asymptotic bounds with a window, tuples/s and ms: no queue, or this spout alone on the
        scarcest resource; ``None`` without a window.
    """

    topology: str
    component: str
    window: int | None
    rate: float | None
    latency: Latency | None
    rate_at_most: float | None
    latency_at_least: float | None


@dataclass(frozen=True, slots=True)
class Utilised:
    """A resource, and its share in use: 1 = all the time; above 1 more than it can do."""

    resource: Resource
    utilisation: float

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return _resource_document(self.resource) | {"utilisation": self.utilisation}


@dataclass(frozen=True, slots=True)
class Sustainable:
    """How much the sources may send.

    Parameters
    ----------
    multiple
        Highest multiple of the given rates at which no resource has more to do than it can; at the
        multiple itself queues grow already.
    resource
        What saturates first.
    """

    multiple: Fraction
    resource: Resource


@dataclass(frozen=True, slots=True)
class OverMemory:
    """A node that holds more than its memory, in MB; no queue says what becomes of its tasks."""

    node: str
    needed: Fraction
    available: Fraction

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        available = plain(self.available)
        return {"node": self.node, "needed": plain(self.needed), "available": available}


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What a placement is worth.

    Parameters
    ----------
    given
        The instance as it was placed.
    over_memory
        Nodes over their hard memory; where there are any, there is no prediction, and the fields
        below are empty or ``None``.
    spouts
        One for each spout of the placed topologies.
    sustainable
        Highest multiple of the given rates, windows left aside; ``None`` where a spout has no rate.
    utilisations
        Of every resource in use, at the rates of `spouts`; the thread of one task stands for all of
        its component in a worker.
    analysis
        How rates and latencies were found; ``None`` where the sources are not sustainable.
    settled
        Whether that came to rest within its rounds, if it is an approximation. Where it did not,
        the numbers are those of its last round and may be far off.
    assumed
        What the instance does not say.
    left_out
        Topologies that the placement leaves out.
    """

    given: Instance
    over_memory: tuple[OverMemory, ...]
    spouts: tuple[PredictedSpout, ...]
    sustainable: Sustainable | None
    utilisations: tuple[Utilised, ...]
    analysis: str | None
    settled: bool
    assumed: tuple[Assumed, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        """At most five lines: the total rate and the bottleneck, then the spouts."""
        if self.over_memory:
            return f"Prediction {self.given.name}: none, {self.over_memory[0].node} over memory"
        where = "" if self.bottleneck is None else f", bottleneck {self.bottleneck.resource}"
        head = f"Prediction {self.given.name}: {short_text(self.rate)} tuples/s{where}"
        lines = [
            f"{one.topology}/{one.component}: "
            + ("" if one.rate is None else f"{short_text(one.rate)} tuples/s, ")
            + ("unstable" if one.latency is None else f"{short_text(one.latency.mean)} ms")
            for one in self.spouts
        ]
        return block(head, lines)

    @property
    def rate(self) -> float:
        """Tuples/s that all spouts emit together, those whose rate is ``None`` left out."""
        return sum(one.rate for one in self.spouts if one.rate is not None)

    @property
    def is_sustainable(self) -> bool:
        """Whether queues do not grow for ever, so that there are latencies."""
        return self.analysis is not None

    @property
    def bottleneck(self) -> Utilised | None:
        """The resource of the highest utilisation, the first of equal ones; ``None``: none used."""
        return max(self.utilisations, key=lambda one: one.utilisation, default=None)

    def to_document(self) -> dict[str, Any]:
        """Return the prediction as JSON-ready data."""
        return {
            "over_memory": [one.to_document() for one in self.over_memory],
            "analysis": self.analysis,
            "settled": self.settled,
            "spouts": [_spout_document(one) for one in self.spouts],
            "sustainable": None
            if self.sustainable is None
            else {
                "multiple": float(self.sustainable.multiple),
                "exact": str(self.sustainable.multiple),
                "resource": _resource_document(self.sustainable.resource),
            },
            "bottleneck": None if self.bottleneck is None else self.bottleneck.to_document(),
            "utilisations": [one.to_document() for one in self.utilisations],
            "assumed": [one.to_document() for one in self.assumed],
            "left_out": list(self.left_out),
        }


def _spout_document(one: PredictedSpout) -> dict[str, Any]:
    latency = one.latency
    return {
        "topology": one.topology,
        "component": one.component,
        "window": one.window,
        "rate": one.rate,
        "latency_ms": None
        if latency is None
        else {
            "mean": latency.mean,
            "queueing": latency.queueing,
            "service": latency.service,
            "serialisation": latency.serialisation,
            "network": latency.network,
            "synchronisation": latency.synchronisation,
        },
        "bounds": None
        if one.rate_at_most is None
        else {"rate_at_most": one.rate_at_most, "latency_at_least_ms": one.latency_at_least},
    }


def _resource_document(resource: Resource) -> dict[str, Any]:
    component = resource.component or None
    return {"kind": resource.kind.value, "place": resource.place, "component": component}


def predict(
    problem: Problem | Instance, placement: Placement, assumptions: Assumptions | None = None
) -> Prediction:
    """Return what a placement is worth.

    Parameters
    ----------
    problem
        What was placed; an instance is compiled first.
    placement
        Of it; topologies may be left out whole.
    assumptions
        Defaults for what the instance does not say; ``None`` = it must say all that is needed.

    Raises
    ------
    InputError
        Naming the key that is needed and missing, or what makes no sense: no rate anywhere, tuples
        that multiply on a cycle, a topology placed in part.
    """
    problem = compiled(problem)
    check_shape(problem, placement)
    instance = problem.instance
    assumed: tuple[Assumed, ...] = ()
    if assumptions is not None:
        instance, assumed = with_assumptions(instance, assumptions)
    over_memory = nodes_over_memory(problem, placement)
    if over_memory:
        return Prediction(problem.instance, over_memory, (), None, (), None, True, assumed, ())
    sent = flows(instance, placement, apart=True)
    check_rates(sent)
    for route in sent.routes:
        if route.window is not None and route.rate == 0:
            rule = "must be above 0 for a spout with a window; leave it out, or its topology"
            raise InputError(rule, field=f"{sent.components[route.spout].path}.rate", value=0)
    loaded = loads(sent)
    given = [Fraction(0) if one.window is not None else one.rate for one in sent.routes]
    open_rates = [rate for rate in given if rate is not None]
    busiest = loaded.busiest(open_rates)
    if busiest is not None and busiest[1] >= 1:
        rates = np.asarray([float(rate) for rate in open_rates])
        times: Sequence[Time | None] = [None] * len(rates)
        bounds: Sequence[Bound | None] = [None] * len(rates)
        analysis, settled = None, True
    else:
        solution = solve(loaded)
        rates, times, bounds = solution.rates, solution.times, solution.bounds
        analysis, settled = solution.analysis.value, solution.settled
    return Prediction(
        problem.instance,
        (),
        tuple(_spouts(sent, rates, times, bounds)),
        _sustainable(loaded),
        _utilisations(loaded, rates),
        analysis,
        settled,
        assumed,
        sent.left_out,
    )


def nodes_over_memory(problem: Problem, placement: Placement) -> tuple[OverMemory, ...]:
    """Return the nodes that hold more than their hard memory."""
    if problem.memory is None or not problem.hard[problem.memory]:
        return ()
    load = account(problem, placement).node_load[:, problem.memory].tolist()
    room = problem.capacity[:, problem.memory].tolist()
    unit = problem.units[problem.memory]
    return tuple(
        OverMemory(problem.instance.cluster.nodes[n].id, need * unit, most * unit)
        for n, (need, most) in enumerate(zip(load, room, strict=True))
        if most != NO_LIMIT and need > most
    )


def check_rates(sent: Flows) -> None:
    """Refuse open routes without a rate, and placements that nothing flows in."""
    if not sent.routes:
        rule = "no topology with a spout is placed: nothing to predict"
        raise InputError(rule, field="placement", has_value=False)
    for route in sent.routes:
        if route.window is None and route.rate is None:
            raise needed(f"{sent.components[route.spout].path}.rate")
    if all(route.rate == 0 for route in sent.routes):
        path = f"{sent.components[sent.routes[0].spout].path}.rate"
        raise InputError("some spout must have a rate above 0", field=path, value=0)


def _spouts(
    sent: Flows,
    rates: FloatArray,
    times: Sequence[Time | None],
    bounds: Sequence[Bound | None],
) -> Iterator[PredictedSpout]:
    """Yield what becomes of each spout: its routes together."""
    for spout, some in groupby(range(len(sent.routes)), lambda r: sent.routes[r].spout):
        routes = list(some)
        one, window = sent.components[spout], sent.routes[routes[0]].window
        is_known = times[routes[0]] is not None or window is None
        limits = [bound for r in routes if (bound := bounds[r]) is not None]
        yield PredictedSpout(
            sent.instance.topologies[one.topology].id,
            one.noun.id,
            window,
            float(sum(rates[routes])) if is_known else None,
            _latency([(float(rates[r]), times[r]) for r in routes]),
            sum(one.rate_at_most for one in limits) if limits else None,
            min(one.latency_at_least for one in limits) * MS_PER_S if limits else None,
        )


def _latency(times: Sequence[tuple[float, Time | None]]) -> Latency | None:
    """Return the mean over routes of these rates."""
    total = sum(rate for rate, _ in times)
    parts = [0.0] * 5
    for rate, time in times:
        if time is None:
            return None
        share = rate / total if total else 1 / len(times)
        causes = (time.queueing, time.service, time.serialise, time.network, time.synchronisation)
        parts = [a + share * b * MS_PER_S for a, b in zip(parts, causes, strict=True)]
    return Latency(*parts)


def _sustainable(loaded: Loads) -> Sustainable | None:
    rates = [route.rate for route in loaded.flows.routes if route.rate is not None]
    if len(rates) < len(loaded.flows.routes):
        return None
    busiest = loaded.busiest(rates)
    if busiest is None:
        return None
    resource, utilisation = busiest
    return Sustainable(1 / utilisation, loaded.resources[resource])


def _utilisations(loaded: Loads, rates: FloatArray) -> tuple[Utilised, ...]:
    load = rates @ loaded.demand
    return tuple(
        Utilised(loaded.resources[k], float(load[k])) for k in np.flatnonzero(load).tolist()
    )
