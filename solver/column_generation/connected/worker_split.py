"""The configuration of a node split into workers: with the most flow inside, or a good split."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.configurations.enumeration import (
    least_load,
    within_node_caps,
)
from slotwise.solver.column_generation.connected.enumeration import enumerate_connected
from slotwise.solver.column_generation.connected.gap_search import column_of
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.level import ProvenDuals
from slotwise.solver.column_generation.connected.place_model import PlaceModel
from slotwise.solver.column_generation.listed_master import TypeColumns
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.rack_splits import DualBound
from slotwise.solver.column_generation.residual_search import (
    SiteSolution,
    TooLongError,
    min_reduced_cost,
)
from slotwise.solver.core.memory import RunToken
from slotwise.solver.structure.task_types import deal

Keeps = Callable[[list[IntArray]], bool]
"""Whether a node has the slots and the capacity for workers with these counts [K] each."""


class WorkerSplitter:
    """Splits the configurations of nodes into workers, at the duals of workers."""

    def __init__(
        self,
        graph: FlowGraph,
        duals: ProvenDuals,
        deadline: float,
        params: ConnectedParams,
        token: RunToken,
    ) -> None:
        self._graph = graph
        self._duals = duals
        self._dual_bound = DualBound(duals.scale, duals.pi, 0, (0,))
        self._deadline = deadline
        self._params = params
        self._token = token
        self._known: dict[bytes, SiteSolution | int] = {}
        self.widest, self._column = self._listed()

    def workers(self, configuration: IntArray, keeps: Keeps) -> list[IntArray] | None:
        """Return the configurations [K] of the workers of a node; ``None`` if it finds no way.

        `keeps` decides whether a node takes some workers; merging them only helps.
        """
        if keeps([configuration]) and self._graph.admits(configuration[None, :])[0]:
            return [configuration]  # one worker holds all flow of the node
        gap = min(self.widest, self._duals.scale)
        solution = None
        try:
            while (solution := self._solution(configuration, gap)) is None and gap < self.widest:
                gap = min(4 * gap, self.widest)
        except TooLongError:
            pass  # then a split that is only good
        if solution is None:
            parts = round_down(self._graph, self._duals, configuration)
        else:
            parts = [np.array(counts) for _, counts in solution.configurations]
        if keeps(parts):
            return parts
        merged = self._merged(parts)
        return merged if keeps(merged) else None

    def gains(
        self, configurations: IntArray, gaps: IntArray, deadline: float
    ) -> tuple[IntArray, BoolArray]:
        """Return for configurations [Y, K] the most flow inside workers, and whether it fits.

        It does not where the reduced cost of the best split exceeds its gap [Y]. Where the search
        grows too large it is the most that the duals allow. Raises `TooLongError` after the
        deadline.
        """
        most = configurations @ self._duals.pi
        inside = most // self._duals.scale
        possible = np.ones(len(configurations), dtype=np.bool_)
        for i, (configuration, gap) in enumerate(zip(configurations, gaps.tolist(), strict=True)):
            if self._token.now() > deadline:
                raise TooLongError
            if gap > self.widest:
                continue
            try:
                solution = self._solution(configuration, gap)
            except TooLongError:
                continue
            possible[i] = solution is not None
            if solution is not None:
                inside[i] = (int(most[i]) - solution.reduced_cost) // self._duals.scale
        return inside, possible

    def _listed(self) -> tuple[int, TypeColumns]:
        """Return the widest gap within which configurations are few, and these; -1 = none is."""
        graph, scale = self._graph, self._duals.scale
        gap, rows = -1, np.zeros((0, graph.count), dtype=np.int64)
        units, params = 1, replace(self._params, max_partial=self._params.max_split_partial)
        now = self._token.now()
        until = now + params.split_fraction * max(self._deadline - now, 0.0)
        while units <= params.max_split_gap:
            try:
                within = self._token, until, params
                more = enumerate_connected(graph, scale, self._duals.pi, units * scale, *within)
            except TooLongError:
                break
            if len(more) > self._params.max_split_configurations:
                break
            gap, rows, units = units * scale, more, 2 * units
        return gap, column_of(graph, rows)

    def _solution(self, configuration: IntArray, gap: int) -> SiteSolution | None:
        """Return the split of least reduced cost; ``None`` if that exceeds the gap. Cached."""
        key = configuration.tobytes()
        cached = self._known.get(key, -1)
        if isinstance(cached, SiteSolution):
            return cached if cached.reduced_cost <= gap else None
        if cached >= gap:
            return None
        self._token.check()
        solution = min_reduced_cost(
            [self._column],
            (int(configuration.sum()),),
            self._dual_bound,
            configuration,
            gap,
            self._may_continue,
            self._token,
        )
        self._known[key] = gap if solution is None else solution
        return solution

    def _may_continue(self, seen: int) -> bool:
        return seen < self._params.max_split_states and self._token.now() < self._deadline

    def _merged(self, configurations: list[IntArray]) -> list[IntArray]:
        """Merge configurations into as few as first fit manages, large ones first."""
        bins: list[IntArray] = []
        weights = self._graph.weights
        for configuration in sorted(configurations, key=lambda p: (-int(p @ weights), p.tolist())):
            rows = (
                np.array(bins) + configuration
                if bins
                else np.zeros((0, len(configuration)), dtype=np.int64)
            )
            good = np.flatnonzero(self._graph.admits(rows))
            if len(good):
                bins[int(good[0])] = rows[int(good[0])]
            else:
                bins.append(configuration)
        return bins


def round_down(graph: FlowGraph, duals: ProvenDuals, configuration: IntArray) -> list[IntArray]:
    """Return parts that add up to `configuration`: the best columns, each as often as it fits."""
    configurations = duals.configurations[graph.admits(duals.configurations)]
    value = graph.gains(configurations) / np.maximum(configurations @ duals.pi, 1)
    left, chosen = configuration.copy(), []
    for row in np.argsort(-value, kind="stable").tolist():
        while (configurations[row] <= left).all():
            chosen.append(configurations[row])
            left = left - configurations[row]
    return chosen


# Bin packing of a solution: it is a placement if its configurations fit the nodes there are.

NodeConfigurations = dict[int, IntArray]
"""Node -> tasks [K] of each kind on it."""


def pack_configurations(
    places: PlaceModel, configurations: Sequence[IntArray]
) -> NodeConfigurations | None:
    """Return the nodes of the configurations: in one rack if first fit manages, else in all.

    The most demanding ones come first, and small nodes are opened before larger ones. ``None``
    where first fit finds no room; a split may still exist.
    """
    problem = places.problem
    share = problem.capacity.max(axis=0).clip(1).astype(np.float64)
    weight = (places.kinds.demand / share).sum(axis=1)
    ordered = sorted(
        configurations,
        key=lambda configuration: (-float(configuration @ weight), configuration.tolist()),
    )
    size = (problem.capacity / share).sum(axis=1)
    racks = range(len(problem.racks))
    in_rack = [np.flatnonzero(problem.node_rack == rack) for rack in racks]
    in_rack = [nodes[np.argsort(size[nodes], kind="stable")] for nodes in in_rack]
    in_rack.sort(key=lambda nodes: -float(size[nodes].sum()))
    for nodes in in_rack:
        if (by_node := _first_fit(places, ordered, nodes)) is not None:
            return by_node
    return _first_fit(places, ordered, np.concatenate(in_rack))


def _first_fit(
    places: PlaceModel, configurations: Sequence[IntArray], nodes: IntArray
) -> NodeConfigurations | None:
    problem, kinds = places.problem, places.kinds
    counts = np.zeros((len(nodes), kinds.count), dtype=np.int64)
    for configuration in configurations:
        after = counts + configuration
        load, workers = places.rules.load(after)
        fits = (load <= problem.capacity[nodes]).all(axis=1) & (workers <= problem.slots[nodes])
        good = np.flatnonzero(fits & within_node_caps(problem, kinds, after))
        if not len(good):
            return None
        used = good[counts[good].any(axis=1)]
        counts[int(used[0] if len(used) else good[0])] += configuration
    return {int(n): row for n, row in zip(nodes, counts, strict=True) if row.any()}


def placement_of(
    places: PlaceModel, by_node: Mapping[int, IntArray], split: WorkerSplitter | None
) -> Placement | None:
    """Return the placement with these configurations [K] on the nodes; ``None`` if slots are short.

    `split` is needed where the tasks of a node are split into workers.
    """
    workers: dict[int, list[IntArray]] = {}
    for node, configuration in by_node.items():
        node_workers: list[IntArray] | None = places.by_topology(configuration)
        if split is not None:
            node_workers = split.workers(configuration, partial(_keeps, places, node))
        elif places.per_worker is not None:
            node_workers = list(_isolated(configuration, places.per_worker))
        if node_workers is None:
            return None
        workers[node] = node_workers
    return deal(places.problem, places.kinds, workers)


def _keeps(places: PlaceModel, node: int, workers: list[IntArray]) -> bool:
    """Return whether a node has the slots and the capacity for workers."""
    problem, kinds = places.problem, places.kinds
    if len(workers) > problem.slots[node]:
        return False
    counts = np.array(workers)
    load = least_load(problem, kinds, counts).sum(axis=0)
    for region in problem.regions:
        if region.kind == "offheap_node":  # there once, whatever the number of workers
            holding = counts[:, kinds.among(region.classes)].any(axis=1)
            load[problem.memory] -= region.size * max(0, int(holding.sum()) - 1)
    return bool((load <= problem.capacity[node]).all())


def _isolated(configuration: IntArray, per_worker: IntArray) -> Iterator[IntArray]:
    """Yield the configurations of workers that hold one kind each, as equal as they can be."""
    for k in np.flatnonzero(configuration).tolist():
        left = int(configuration[k])
        for others in range(-(-left // int(per_worker[k])) - 1, -1, -1):
            worker = np.zeros_like(configuration)
            worker[k] = -(-left // (others + 1))
            left -= int(worker[k])
            yield worker
