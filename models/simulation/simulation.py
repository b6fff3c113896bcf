"""A placement tried out: rates and latencies with their confidence, and utilisations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np

from slotwise.models.display import block
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import check_shape
from slotwise.models.prediction.assumptions import Assumed, Assumptions, with_assumptions
from slotwise.models.prediction.flows import Flows, flows
from slotwise.models.prediction.loads import MS_PER_S, Loads, loads
from slotwise.models.prediction.prediction import (
    OverMemory,
    Utilised,
    check_rates,
    nodes_over_memory,
)
from slotwise.models.problem.compile import compiled
from slotwise.models.problem.problem import Problem
from slotwise.models.simulation.intervals import BATCHES, Interval, interval
from slotwise.models.simulation.system import system, used
from slotwise.models.values import short_text


@dataclass(frozen=True, slots=True)
class Run:
    """How long a simulation runs, and its random numbers.

    Parameters
    ----------
    seconds
        Simulated time that is measured, finite and above 0.
    warm_up
        Simulated time before that, finite and 0 or more: queues are empty at first.
    seed
        0 or more; with the same one everything happens again.
    """

    seconds: float = 60.0
    warm_up: float = 10.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.seconds < float("inf"):
            rule = "must be a finite number of simulated seconds above 0"
            raise InputError(rule, field="seconds", value=self.seconds)
        if not 0 <= self.warm_up < float("inf"):
            rule = "must be a finite number of simulated seconds, 0 or more"
            raise InputError(rule, field="warm_up", value=self.warm_up)
        if self.seed < 0:
            raise InputError("must be 0 or more", field="seed", value=self.seed)
        if not (np.diff([self.warm_up, *self.ends]) > 0).all():
            rule = f"is too short to be measured after {self.warm_up:g} s of warm-up"
            raise InputError(rule, field="seconds", value=self.seconds)

    @property
    def ends(self) -> list[float]:
        """When the batches end that are measured, in simulated time."""
        ends: list[float] = (self.warm_up + np.linspace(0, self.seconds, BATCHES + 1)[1:]).tolist()
        return ends


@dataclass(frozen=True, slots=True)
class SimulatedSpout:
    """What became of the tuples of one spout.

    Parameters
    ----------
    topology, component
        Its ids.
    window
        Most tuples of each of its tasks in flight; ``None`` = no limit.
    completed
        Tuples of which all that followed was processed (where they are acked: acknowledged) while
        it was measured.
    rate
        Of these, tuples/s.
    latency
        Their mean time in ms, from emission until then; ``None`` where there were none, and where
        the rates of the sources are not sustainable: it would be longer the longer it runs.
    """

    topology: str
    component: str
    window: int | None
    completed: int
    rate: Interval
    latency: Interval | None


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What a placement is worth, tried out.

    Parameters
    ----------
    given
        The instance as it was placed.
    run
        How it was run.
    over_memory
        Nodes over their hard memory; where there are any, nothing was simulated, and the fields
        below are empty.
    is_sustainable
        Whether every resource can do what the sources without a window ask of it. Where not, queues
        grow for ever, and rates say what came through meanwhile. Where it can, a thread that has
        to share cores may still get too little of them: then the rate stays below the source's.
    spouts
        One for each spout of the placed topologies.
    utilisations
        Share of the measured time that resources were in use, of those that were; the thread of one
        task stands for all of its component in a worker, by their mean.
    assumed
        What the instance does not say.
    left_out
        Topologies that the placement leaves out.
    """

    given: Instance
    run: Run
    over_memory: tuple[OverMemory, ...]
    is_sustainable: bool
    spouts: tuple[SimulatedSpout, ...]
    utilisations: tuple[Utilised, ...]
    assumed: tuple[Assumed, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        """At most five lines: the total rate and the bottleneck, then the spouts."""
        if self.over_memory:
            return f"Simulation {self.given.name}: none, {self.over_memory[0].node} over memory"
        where = "" if self.bottleneck is None else f", bottleneck {self.bottleneck.resource}"
        head = f"Simulation {self.given.name}: {short_text(self.rate)} tuples/s{where}"
        lines = [
            f"{one.topology}/{one.component}: {short_text(one.rate.mean)} tuples/s, "
            + ("no latency" if one.latency is None else f"{short_text(one.latency.mean)} ms")
            for one in self.spouts
        ]
        return block(head, lines)

    @property
    def rate(self) -> float:
        """Tuples/s of all spouts together."""
        return sum(one.rate.mean for one in self.spouts)

    @property
    def bottleneck(self) -> Utilised | None:
        """The resource of the highest utilisation, the first of equal ones; ``None``: none used."""
        return max(self.utilisations, key=lambda one: one.utilisation, default=None)

    def to_document(self) -> dict[str, Any]:
        """Return the simulation as JSON-ready data."""
        return {
            "seconds": self.run.seconds,
            "warm_up": self.run.warm_up,
            "seed": self.run.seed,
            "over_memory": [one.to_document() for one in self.over_memory],
            "is_sustainable": self.is_sustainable,
            "spouts": [
                {
                    "topology": one.topology,
                    "component": one.component,
                    "window": one.window,
                    "completed": one.completed,
                    "rate": _interval_document(one.rate),
                    "latency_ms": _interval_document(one.latency),
                }
                for one in self.spouts
            ],
            "bottleneck": None if self.bottleneck is None else self.bottleneck.to_document(),
            "utilisations": [one.to_document() for one in self.utilisations],
            "assumed": [one.to_document() for one in self.assumed],
            "left_out": list(self.left_out),
        }


def _interval_document(one: Interval | None) -> dict[str, float] | None:
    return None if one is None else {"mean": one.mean, "half_width": one.half_width}


def simulate(
    problem: Problem | Instance,
    placement: Placement,
    run: Run,
    assumptions: Assumptions | None = None,
) -> Simulation:
    """Try a placement out.

    Parameters
    ----------
    problem
        What was placed; an instance is compiled first.
    placement
        Of it; topologies may be left out whole.
    run
        How long, and the seed.
    assumptions
        Defaults for what the instance does not say; ``None`` = it must say all that is needed.

    Raises
    ------
    InputError
        Naming the key that is needed and missing, or what makes no sense, as for a prediction.
    SlotwiseError
        Where SimPy is not installed.
    """
    if find_spec("simpy") is None:
        raise SlotwiseError(
            "a simulation needs the extra simulation: pip install 'slotwise[simulation]'"
        )
    problem = compiled(problem)
    check_shape(problem, placement)
    instance = problem.instance
    assumed: tuple[Assumed, ...] = ()
    if assumptions is not None:
        instance, assumed = with_assumptions(instance, assumptions)
    over_memory = nodes_over_memory(problem, placement)
    if over_memory:
        return Simulation(problem.instance, run, over_memory, False, (), (), assumed, ())
    sent = flows(instance, placement)
    check_rates(sent)
    loaded = loads(sent)
    _check_limited(loads(flows(instance, placement, apart=True)))
    is_sustainable = _is_sustainable(loaded)
    spouts, utilisations = _measured(loaded, run, is_sustainable)
    return Simulation(
        problem.instance, run, (), is_sustainable, spouts, utilisations, assumed, sent.left_out
    )


def _is_sustainable(loaded: Loads) -> bool:
    rates = [
        Fraction(0) if one.window is not None or one.rate is None else one.rate
        for one in loaded.flows.routes
    ]
    busiest = loaded.busiest(rates)
    return busiest is None or busiest[1] < 1


def _check_limited(loaded: Loads) -> None:
    """Refuse spouts that would emit for ever without time going by."""
    for r, route in enumerate(loaded.flows.routes):
        takes_time = loaded.demand[r].any() or any(
            hop.route == r and hop.delay for hop in loaded.hops
        )
        if route.rate is None and not takes_time:
            path = loaded.flows.components[route.spout].path
            rule = "nothing limits how fast it emits; give it a rate, or service times above 0"
            raise InputError(rule, field=path, has_value=False)


def _measured(
    loaded: Loads, run: Run, is_sustainable: bool
) -> tuple[tuple[SimulatedSpout, ...], tuple[Utilised, ...]]:
    from simpy import Environment

    env, sent = Environment(), loaded.flows
    whole = system(env, sent, run.seed)

    def in_use() -> Any:
        return used(whole, sent, loaded.first, len(loaded.resources))

    if run.warm_up:
        env.run(until=run.warm_up)
    for one in whole.completed.values():
        one.count, one.seconds = 0, 0.0
    before = in_use()
    counts: dict[int, list[int]] = {spout: [] for spout in whole.completed}
    seconds: dict[int, list[float]] = {spout: [] for spout in whole.completed}
    for end in run.ends:
        env.run(until=end)
        for spout, one in whole.completed.items():
            counts[spout].append(one.count)
            seconds[spout].append(one.seconds)
            one.count, one.seconds = 0, 0.0
    share = (in_use() - before) / run.seconds
    spouts = tuple(
        _spout(sent, spout, counts[spout], seconds[spout], run.seconds, is_sustainable)
        for spout in whole.completed
    )
    utilised = tuple(
        Utilised(loaded.resources[k], float(share[k])) for k in np.flatnonzero(share).tolist()
    )
    return spouts, utilised


def _spout(
    sent: Flows,
    spout: int,
    counts: Sequence[int],
    seconds: Sequence[float],
    measured: float,
    is_sustainable: bool,
) -> SimulatedSpout:
    component = sent.components[spout]
    topology = sent.instance.topologies[component.topology]
    rate = interval(counts, [measured / len(counts)] * len(counts))
    assert rate is not None, "batches take time"
    latency = interval([one * MS_PER_S for one in seconds], counts) if is_sustainable else None
    name, window = component.noun.id, topology.window
    return SimulatedSpout(topology.id, name, window, sum(counts), rate, latency)
