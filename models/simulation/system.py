"""The threads, nodes and links of a placement, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from slotwise.models.instance.topology import ACKER
from slotwise.models.prediction.flows import FloatArray, Flows, Link, PlacedComponent, Route
from slotwise.models.prediction.loads import MS_PER_S, Kind, speed
from slotwise.models.simulation.network import Network, Spot
from slotwise.models.simulation.sharing import SharedServer
from slotwise.models.simulation.threads import (
    IN_TURN,
    Acker,
    Bolt,
    Completed,
    Outlet,
    Recipient,
    Spout,
    Thread,
)
from slotwise.models.tuples import needed

if TYPE_CHECKING:
    from simpy import Environment

BLOCK = 256
"""Random numbers that are drawn at a time."""


def in_blocks(draw: Callable[[int], FloatArray]) -> Iterator[float]:
    """Yield what `draw` returns, `BLOCK` numbers at a time, for ever."""
    while True:
        yield from draw(BLOCK).tolist()


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """What runs.

    Parameters
    ----------
    threads
        Task of the instance -> its thread, of the tasks that receive anything or emit.
    completed
        Component -> what became of its tuples, of every spout.
    cores
        Node -> its cores, of the nodes of these tasks.
    network
        Its links are those that anything passes.
    """

    threads: dict[int, Thread]
    completed: dict[int, Completed]
    cores: dict[int, SharedServer]
    network: Network


def system(env: Environment, flows: Flows, seed: int) -> System:
    """Return the system of a placement, its spouts about to emit.

    Raises
    ------
    InputError
        Naming the key that is needed and not given.
    """
    return _Builder(env, flows, seed).build()


class _Builder:
    def __init__(self, env: Environment, flows: Flows, seed: int) -> None:
        self.env = env
        self.flows = flows
        self.tasks: dict[int, list[int]] = {c: [] for c in range(len(flows.components))}
        for task, group in enumerate(flows.groups.of_task.tolist()):
            if group >= 0:
                self.tasks[int(flows.groups.component[group])].append(task)
        # Each task has random numbers of its own, whatever the others do and wherever it is.
        seeds = SeedSequence(seed).spawn(len(flows.groups.of_task))
        self.random = [default_rng(one) for one in seeds]
        self.network = Network(env, flows.instance.cluster)
        self.cores: dict[int, SharedServer] = {}
        self.threads: dict[int, Thread] = {}
        self.completed: dict[int, Completed] = {}

    def build(self) -> System:
        routes = {route.spout: route for route in self.flows.routes}
        self.completed.update((spout, Completed()) for spout in routes)
        reached = {group for route in routes.values() for group in route.by_group}
        for c, tasks in self.tasks.items():
            for task in tasks:
                if int(self.flows.groups.of_task[task]) in reached:
                    self.threads[task] = self._thread(c, task, routes.get(c))
        for link in self.flows.links:
            if link.selectivity != 0:
                self._connect(link)
        for thread in self.threads.values():
            if isinstance(thread, Spout):
                thread.begin()
        return System(self.threads, self.completed, self.cores, self.network)

    def spot(self, task: int) -> Spot:
        placement = self.flows.placement
        return Spot(placement.nodes[task], placement.workers[task])

    def _thread(self, c: int, task: int, route: Route | None) -> Thread:
        component, node = self.flows.components[c], self.spot(task).node
        slower = float(speed(self.flows, node))
        if node not in self.cores:
            cores = self.flows.instance.cluster.nodes[node].cores
            assert cores is not None, "needed for the speed"
            self.cores[node] = SharedServer(self.env, cores)
        random = self.random[task]
        service = _services(component, random)
        common = (self.env, self.network, self.cores[node], slower, service)
        if route is not None:
            return Spout(
                *common,
                rate=None if route.rate is None else float(route.rate) / route.tasks,
                window=route.window,
                draws=in_blocks(random.random),
                pauses=in_blocks(random.standard_exponential),
                completed=self.completed[c],
            )
        return Acker(*common) if component.noun.id == ACKER else Bolt(*common)

    def _connect(self, link: Link) -> None:
        for task in self.tasks[link.source]:
            if task not in self.threads:
                continue
            thread, start = self.threads[task], self.spot(task)
            ways = {
                to: self.network.way(start, self.spot(to), link.tuple_bytes, link.bytes_path)
                for to in self._receivers(link, task)
            }
            if isinstance(thread, Acker):
                thread.back |= {self.threads[to]: way for to, way in ways.items()}
                continue
            assert link.selectivity is not None, "only ackers send without one"
            receivers: list[Recipient] = [
                (self.threads[to].receive, way) for to, way in ways.items()
            ]
            random = self.random[task]
            if link.grouping in IN_TURN:
                receivers = [receivers[i] for i in random.permutation(len(receivers)).tolist()]
            draws = in_blocks(random.random)
            outlet = Outlet(link.grouping, link.acks, link.selectivity, receivers, draws)
            thread.outlets.append(outlet)

    def _receivers(self, link: Link, task: int) -> list[int]:
        """Return the tasks that a sender may send to."""
        everyone = self.tasks[link.target]
        if link.grouping == "global":
            return everyone[:1]
        if link.grouping == "local_or_shuffle":
            here = self.spot(task)
            return [other for other in everyone if self.spot(other) == here] or everyone
        return everyone


def _services(component: PlacedComponent, random: Generator) -> Iterator[float]:
    """Yield seconds per tuple on a core of 100 points, with a gamma distribution."""
    if component.noun.service_ms is None:
        raise needed(f"{component.path}.service_ms")
    mean = float(component.noun.service_ms) / MS_PER_S
    if not mean:
        return repeat(0.0)
    if component.noun.service_scv is None:
        raise needed(f"{component.path}.service_scv")
    scv = float(component.noun.service_scv)
    if not scv:
        return repeat(mean)
    return in_blocks(lambda count: random.standard_gamma(1 / scv, count) * (scv * mean))


def used(whole: System, flows: Flows, places: Mapping[Kind, int], count: int) -> FloatArray:
    """Return the seconds that each resource has been used since the start.

    Parameters
    ----------
    places
        Kind -> index of its first resource, as `Loads.first`.
    count
        Of resources.

    Returns
    -------
    FloatArray
        Of a thread the mean over its group; of cpu over the cores.
    """
    usage = np.zeros(count)
    groups = flows.groups
    for task, thread in whole.threads.items():
        thread.account()
        group = int(groups.of_task[task])
        usage[group] += thread.work / int(groups.size[group])
    for node, cores in whole.cores.items():
        usage[places[Kind.CPU] + node] = cores.used / (
            flows.instance.cluster.nodes[node].cores or 1
        )
    for (kind, place), link in whole.network.links.items():
        usage[places[kind] + place] = link.used
    return usage
