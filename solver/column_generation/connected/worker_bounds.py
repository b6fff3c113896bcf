"""Upper bounds of the flow inside the workers of a node, by its content.

For any rho and tau with ``scale * g(z) <= rho.z + tau`` for every content z of a worker, a node
with content y and at most S workers holds at most ``rho.y + S * tau`` inside them. Each pair comes
from the linear program that splits one content into at most S workers, and is a cut that holds for
all contents; a content that S workers cannot hold is bounded far below 0. Every pair is proven in
integers: tau is computed by pricing at the rounded rho.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from slotwise.models.problem.problem import BoolArray, IntArray
from slotwise.solver.column_generation.connected.enumeration import enumerate_connected
from slotwise.solver.column_generation.connected.graph import FlowGraph
from slotwise.solver.column_generation.connected.tree_knapsack import (
    best_configurations,
    best_value,
    make_tables,
)
from slotwise.solver.column_generation.connected.two_level_search import in_time, split_gains
from slotwise.solver.column_generation.listed_master import NEG_INF
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.column_generation.restricted_master import (
    FloatArray,
    RestrictedMaster,
    on_grid,
)
from slotwise.solver.column_generation.worker_packing.table import mixed_radix_strides
from slotwise.solver.core.memory import RunToken

TOLERANCE_BITS = 4
"""Reduced cost that no longer counts: 2^4 steps of the grid of the duals."""

SPLIT_FRACTION = 0.2
"""Part of the time left that one table of best splits may take."""


class WorkerBounds:
    """The cuts found so far; `rho` [R, K] and `tau` [R], on the integer grid `scale`.

    Parameters
    ----------
    graph
        The kinds in a worker.
    scale
        Grid of the duals.
    proven
        [K] duals of workers at which no content of one has a negative reduced cost: the first cut.
    slots
        Most workers of a node.
    penalty
        Flow that a missing slot costs in the linear program, per unit of flow of the content.
    deadline
        From then on no cut is added.
    """

    def __init__(
        self,
        graph: FlowGraph,
        scale: int,
        proven: IntArray,
        slots: int,
        penalty: int,
        deadline: float,
        token: RunToken,
    ) -> None:
        self.rho = proven[None, :].copy()
        self.tau = np.zeros(1, dtype=np.int64)
        self._graph = graph
        self._scale = scale
        self.slots = min(slots, int(graph.sizes.sum()))
        self._penalty = penalty
        self.deadline = deadline
        self._token = token
        self._workers = np.eye(graph.count, dtype=np.int64)
        self._seen: set[bytes] = set()
        self._splits: SplitTable | None = None
        self._listed: tuple[int, IntArray] | None = None
        self._unlisted: int | None = None  # a gap within which contents of workers are too many

    def of(self, contents: IntArray) -> IntArray:
        """Return [Y] what the contents [Y, K] hold inside workers at most, times the scale."""
        least = contents @ self.rho[0] + self.slots * int(self.tau[0])
        for rho, tau in zip(self.rho[1:], self.tau[1:].tolist(), strict=True):
            np.minimum(least, contents @ rho + self.slots * tau, out=least)
        least -= least % self._scale  # flows are whole
        if self._splits is not None:
            np.minimum(least, self._splits.of(contents), out=least)
        return np.asarray(least)

    def split(
        self, contents: IntArray, least: IntArray, most: IntArray, params: ConnectedParams
    ) -> None:
        """Bound contents [Y, K] by their best splits into any number of workers, times the scale.

        The bounds are exact where they are `least` [Y] or more. Contents have at most `most` [K]
        tasks of a kind; where there are few such contents, all of them are bounded at once. Nothing
        is learnt where there are too many contents or workers.
        """
        if self._splits is None:
            self._splits = SplitTable(most)
        new = ~self._splits.knows(contents)
        contents, least = contents[new], least[new]
        if not len(contents):
            return
        cells = self._splits.box
        all_at_once = cells <= params.max_subset_rows and self._token.has_room(
            4 * 8 * cells * len(most), f"bounds of {cells:,} contents of nodes"
        )
        are_many = len(contents) > params.max_split_contents
        if are_many and not all_at_once:
            return
        widest = int((contents @ self.rho[0] - least).max())
        try:
            gap, workers = self._workers_within(max(widest, 0), params)
        except TooLongError:
            return
        params = in_time(params, SPLIT_FRACTION * (self.deadline - self._token.now()))
        if all_at_once and cells * len(workers) <= params.max_subset_steps:
            contents = self._splits.unknown()
        elif are_many:
            return
        gains = self._graph.gains(workers)
        splits = split_gains(contents, workers, gains, params, self._token)
        if splits is not None:
            others = (contents @ self.rho[0] - gap - 1) // self._scale  # by workers not listed
            bounds = np.where(splits[1], np.maximum(splits[0], others), others)
            self._splits.note(contents, self._scale * bounds)

    def _workers_within(self, gap: int, params: ConnectedParams) -> tuple[int, IntArray]:
        """Return a reduced cost of `gap` or more, and [W, K] all contents of a worker within it."""
        if self._unlisted is not None and gap >= self._unlisted:
            raise TooLongError
        if self._listed is None or self._listed[0] < gap:
            few = replace(params, max_partial=params.max_split_partial)
            try:
                workers = enumerate_connected(
                    self._graph, self._scale, self.rho[0], gap, self._token, self.deadline, few
                )
            except TooLongError:
                if not self._is_late():
                    self._unlisted = gap
                raise
            self._listed = gap, workers
        return self._listed

    def tighten(self, content: IntArray) -> bool:
        """Add the cut of a content [K] unless it is there; return whether its bound fell."""
        key = content.tobytes()
        if key in self._seen or int(content.sum()) < 2 or self._is_late():
            return False
        self._seen.add(key)
        before = int(self.of(content[None, :])[0])
        rho, tau = self._cut(content)
        if int(rho @ content) + self.slots * tau >= before - (1 << TOLERANCE_BITS):
            return False
        self.rho = np.concatenate([self.rho, rho[None, :]])
        self.tau = np.append(self.tau, tau)
        return True

    def _cut(self, content: IntArray) -> tuple[IntArray, int]:
        """Return the least proven pair for a content."""
        graph, scale = self._graph, self._scale
        flow = int(graph.gains(content))
        most = scale * self._penalty * (flow + 1)
        master = RestrictedMaster(maximize=True)
        master.add_rows(content.tolist())
        master.add_rows([self.slots], limit=True)
        missing = np.zeros((1, graph.count + 1), dtype=np.int64)
        missing[0, -1] = -1
        master.add_columns(np.array([-self._penalty * (flow + 1)]), missing)
        self._add(master, self._workers)
        best: list[tuple[int, IntArray, int]] = []

        def price(duals: FloatArray) -> bool:
            rho = on_grid(duals[: graph.count], scale, most)
            offered = int(on_grid(duals[graph.count :], scale, most)[0])
            tau, workers = self._priced(rho, max(offered, 0))
            best.append((int(rho @ content) + self.slots * tau, rho, tau))
            new = [row for row in workers if row.tobytes() not in listed]
            listed.update(row.tobytes() for row in new)
            if new:
                self._add(master, np.array(new))
                self._workers = np.concatenate([self._workers, np.array(new)])
            return bool(new) and not self._is_late()

        listed = {row.tobytes() for row in self._workers}
        master.generate(price, self._token)
        _, rho, tau = min(best, key=lambda one: one[0])
        return rho, tau

    def _is_late(self) -> bool:
        return self._token.now() > self.deadline

    def _priced(self, rho: IntArray, offered: int) -> tuple[int, list[IntArray]]:
        """Return the least tau for rho, and contents of workers worth more than `offered`."""
        tau, workers = 0, []
        for assignment in self._graph.assignments():
            self._token.check()
            tables = make_tables(
                self._graph, self._scale, rho, assignment, self._token, disconnected=True
            )
            tau = max(tau, best_value(tables))
            for row in best_configurations(tables, self._token):
                value = int(self._graph.gain_bounds(self._scale, row)) - int(rho @ row)
                if value > offered + (1 << TOLERANCE_BITS):
                    workers.append(row)
        return tau, workers

    def _add(self, master: RestrictedMaster, workers: IntArray) -> None:
        gains = self._graph.gain_bounds(self._scale, workers) / self._scale
        master.add_columns(gains, np.c_[workers, np.ones(len(workers), dtype=np.int64)])


class SplitTable:
    """Bounds of the flow inside the workers of contents of at most `most` [K], where known."""

    def __init__(self, most: IntArray) -> None:
        self._most = most
        self._hash = np.random.default_rng(0).integers(1 << 62, size=len(most)) | 1
        self._keys = np.zeros(0, dtype=np.int64)  # sorted
        self._known = np.zeros((0, len(most)), dtype=np.int64)
        self._bounds = np.zeros(0, dtype=np.int64)

    @property
    def box(self) -> int:
        """Number of all contents."""
        return math.prod((self._most + 1).tolist())

    def unknown(self) -> IntArray:
        """Return [Y, K] all contents of which nothing is known."""
        cells = np.arange(self.box)[:, None]
        contents = cells // mixed_radix_strides(self._most + 1) % (self._most + 1)
        return np.asarray(contents[~self.knows(contents)])

    def of(self, contents: IntArray) -> IntArray:
        """Return [Y] the bounds of contents [Y, K]; `-NEG_INF` where nothing is known."""
        rows, known = self._rows(contents)
        bounds = np.full(len(contents), -NEG_INF, dtype=np.int64)
        bounds[known] = self._bounds[rows[known]]
        return bounds

    def knows(self, contents: IntArray) -> BoolArray:
        """Return [Y] of which contents [Y, K] something is known."""
        return self._rows(contents)[1]

    def note(self, contents: IntArray, bounds: IntArray) -> None:
        """Note bounds [Y] of contents [Y, K] of which nothing is known; none is below 0.

        Of contents that share a key only one is noted.
        """
        keys = np.concatenate([self._keys, contents @ self._hash])
        self._keys, first = np.unique(keys, return_index=True)
        self._known = np.concatenate([self._known, contents])[first]
        self._bounds = np.concatenate([self._bounds, np.maximum(bounds, 0)])[first]

    def _rows(self, contents: IntArray) -> tuple[IntArray, BoolArray]:
        """Return [Y] the entry of each content [Y, K], and whether it has one."""
        if not len(self._keys):
            return np.zeros(len(contents), dtype=np.int64), np.zeros(len(contents), dtype=np.bool_)
        keys = contents @ self._hash
        rows = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        known = (self._keys[rows] == keys) & (self._known[rows] == contents).all(axis=1)
        return rows, known
