"""Bin packing of a solution: it is a placement if its configurations fit the nodes there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.solver.column_generation.configurations.enumeration import within_node_caps
from slotwise.solver.column_generation.connected.place_model import PlaceModel, worker_counts
from slotwise.solver.column_generation.connected.worker_split import WorkerSplitter
from slotwise.solver.structure.disaggregation import deal
from slotwise.solver.structure.task_types import TaskTypes

NodeConfigurations = dict[int, IntArray]
"""Node -> tasks [K] of each kind on it."""


def pack_configurations(
    places: PlaceModel, configurations: Sequence[IntArray]
) -> NodeConfigurations | None:
    """Return the nodes of the configurations: in one rack if first fit manages, else in all.

    The most demanding ones come first, and small nodes are opened before larger ones. ``None``
    where first fit finds no room; there may be a way all the same.
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
    held = np.zeros((len(nodes), kinds.count), dtype=np.int64)
    for configuration in configurations:
        after = held + configuration
        fits = (after @ kinds.demand <= problem.capacity[nodes]).all(axis=1)
        kept = _slots_kept(problem, kinds, places.per_worker, after, nodes)
        good = np.flatnonzero(fits & kept)
        if not len(good):
            return None
        used = good[held[good].any(axis=1)]
        held[int(used[0] if len(used) else good[0])] += configuration
    return {int(n): row for n, row in zip(nodes, held, strict=True) if row.any()}


def _slots_kept(
    problem: Problem,
    kinds: TaskTypes,
    per_worker: IntArray | None,
    after: IntArray,
    nodes: IntArray,
) -> BoolArray:
    kept = within_node_caps(problem, kinds, after)
    if per_worker is None:
        return np.asarray(kept & (problem.slots[nodes] > 0))
    return np.asarray(kept & (worker_counts(after, per_worker) <= problem.slots[nodes]))


def placement_of(
    places: PlaceModel, by_node: Mapping[int, IntArray], split: WorkerSplitter | None
) -> Placement | None:
    """Return the placement with these configurations [K] on the nodes; ``None`` if slots are short.

    `split` is needed where the tasks of a node are split into workers.
    """
    workers: dict[int, list[IntArray]] = {}
    for node, configuration in by_node.items():
        found: list[IntArray] | None = [configuration]
        if split is not None:
            found = split.workers(configuration, int(places.problem.slots[node]))
        elif places.per_worker is not None:
            found = list(_isolated(configuration, places.per_worker))
        if found is None:
            return None
        workers[node] = found
    return deal(places.problem, places.kinds, workers)


def _isolated(configuration: IntArray, per_worker: IntArray) -> Iterator[IntArray]:
    """Yield the configurations of workers that hold one kind each."""
    for k in np.flatnonzero(configuration).tolist():
        left = int(configuration[k])
        while left:
            worker = np.zeros_like(configuration)
            worker[k] = min(left, int(per_worker[k]))
            left -= int(worker[k])
            yield worker
