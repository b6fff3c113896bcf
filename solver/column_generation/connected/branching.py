"""Branch and price at prices of counts: partitions of fewer and fewer kinds of counts.

Tasks of a kind are alike, so branching asks how many nodes hold at least c tasks of a kind (after
Vanderbeck, Operations Research 48, 2000): at most m in one child, more in the other. A placement
keeps the row of one of them, and there the tasks of the kind are in one of the partitions that keep
it; contents are priced as at the root. In a node with prices P of total F(P),

    saving of a placement = F(P) - reduced costs of its contents - losses of its partitions.

So counts whose partitions lose more than what is left to the best placement are barred in the whole
subtree, and contents that fit this gap, if they are few, are searched as at the root.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from slotwise.models.problem.problem import IntArray
from slotwise.solver.column_generation.connected.content_pricing import ContentPricing, price_of
from slotwise.solver.column_generation.connected.count_prices import CountMaster, lower_prices
from slotwise.solver.column_generation.connected.gap_search import GapSearch
from slotwise.solver.column_generation.connected.joint_search import JointLevels, load_bound_at
from slotwise.solver.column_generation.connected.level import LoadBound
from slotwise.solver.column_generation.connected.partitions import CountRow, Partitions
from slotwise.solver.column_generation.listed_master import NEG_INF, TypeColumns
from slotwise.solver.column_generation.residual_search import TooLongError
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits

FRACTION = 1e-4
"""What is nearer to a whole number counts as one."""

CANDIDATES_A_KIND, CANDIDATES = 6, 16
"""Rows that strong branching tries."""

LEAST_DROP = 0.02
"""Part of the gap by which the bound of a child counts as fallen at least."""

BARRINGS = 3
"""So often a node is bounded again where more counts are barred."""


@dataclass(frozen=True, slots=True, eq=False)
class BranchNode:
    """A part of all placements.

    Parameters
    ----------
    saved
        What none of them saves more than.
    partitions
        Those of their counts.
    prices
        [K, N + 1] proven for all contents whose counts they have.
    load_bound
        At these prices.
    contents, known
        Columns of its master to begin with: [Y, K] contents; kinds and partitions.
    """

    saved: int
    partitions: Partitions
    prices: IntArray
    load_bound: LoadBound
    contents: IntArray
    known: list[tuple[int, IntArray]]


@dataclass(slots=True, eq=False)
class BranchAndPrice:
    """The tree; `bound` is at any moment what no placement saves more than.

    Parameters
    ----------
    joint
        What the root proved.
    enough
        -> what the best placement saves: nodes that save no more are closed.
    on_best
        Called with the contents [K] of each better solution met.
    """

    joint: JointLevels
    enough: Callable[[], int]
    on_best: Callable[[list[IntArray]], None]
    by_solver: bool = False
    nodes: int = 0
    _open: list[tuple[int, int, BranchNode]] = field(default_factory=list)
    _left: int = NEG_INF
    """Largest saving of nodes that can be neither closed nor branched, and of what was found."""
    _numbers: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        """Start from the root's duals, as prices of counts."""
        pricing, duals = self.pricing, self.joint.duals
        pricing.splits = True
        self._push(
            BranchNode(
                self.joint.saved,
                pricing.partitions,
                pricing.prices(duals.pi),
                self.joint.load_bound,
                duals.columns,
                [],
            )
        )

    @property
    def pricing(self) -> ContentPricing:
        """Of contents."""
        return self.joint.pricing

    @property
    def bound(self) -> int:
        """The largest saving of the nodes that are left; at least that of the best placement."""
        first = -self._open[0][0] if self._open else NEG_INF
        return max(first, self._left, self.enough())

    def run(self, deadline: float, limits: Limits) -> None:
        """Bound and branch the node of the largest bound until none is left or time is over."""
        if self.pricing.workers is not None:
            self.pricing.workers.deadline = deadline
        while self._open and -self._open[0][0] > max(self.enough(), self._left):
            if self.pricing.token.now() > deadline:
                return
            _, _, node = self._open[0]  # it stays open, should the search be cancelled
            children = self._branched(node, deadline, limits)
            heapq.heappop(self._open)
            for child in children:
                self._push(child)

    def _push(self, node: BranchNode) -> None:
        if node.saved > self.enough():
            heapq.heappush(self._open, (-node.saved, next(self._numbers), node))

    def _branched(self, node: BranchNode, deadline: float, limits: Limits) -> list[BranchNode]:
        """Return the nodes that take the place of one: none where it is closed."""
        self.nodes += 1
        node, master = self._bounded(node, deadline)
        if node.saved <= self.enough() or master is None:
            return []
        if self.pricing.token.now() > deadline:
            return [node]
        saved = self._searched(node, deadline, limits)
        if saved <= self.enough():
            return []
        row = self._row_to_branch(master)
        if row is None:
            self._left = max(self._left, saved)
            return []
        contents, known = master.contents(), master.known_partitions()
        children = []
        for side in _sides(row):
            partitions = node.partitions.with_row(side)
            child = replace(
                node, saved=saved, partitions=partitions, contents=contents, known=known
            )
            children.append(replace(child, saved=self._saved(child)))
        return children

    def _bounded(self, node: BranchNode, deadline: float) -> tuple[BranchNode, CountMaster | None]:
        """Lower the node's prices as far as time allows, and bar counts that lose too much.

        There is no master where the node is closed.
        """
        pricing, master = self.pricing, None
        for _ in range(BARRINGS):
            barred = node.partitions.losses(node.prices) > self._gap(node)
            barred[:, 0] = False
            partitions = node.partitions.without(barred)
            if master is not None and partitions.barred_count == node.partitions.barred_count:
                break
            node = replace(node, partitions=partitions)
            node = replace(node, saved=self._saved(node))
            if node.saved <= self.enough():
                return node, None
            master = CountMaster(pricing, partitions)
            master.add(self._fitting(node, node.contents))
            for k, times in node.known:
                if partitions.keeps(k, times):
                    master.add_partition(k, times)
            enough = (self.enough() + 1) * pricing.scale - 1 + node.load_bound.total
            prices = lower_prices(master, node.prices, deadline, pricing.params, enough)
            node = replace(
                node,
                prices=prices,
                load_bound=self._load_bound(partitions, prices, deadline),
                contents=master.contents(),
                known=master.known_partitions(),
            )
            node = replace(node, saved=self._saved(node))
            if node.saved <= self.enough() or pricing.token.now() > deadline:
                break
        return node, master

    def _load_bound(self, partitions: Partitions, prices: IntArray, deadline: float) -> LoadBound:
        """Return the load bound at prices; zeros where it gained nothing at the root."""
        pricing, root = self.pricing, self.joint.load_bound
        if self.joint.by_tables < pricing.scale:
            return replace(root, least=np.zeros_like(root.least))
        return load_bound_at(pricing, partitions.barring(prices, 2 * pricing.most), deadline)

    def _saved(self, node: BranchNode) -> int:
        """Return what the prices of a node say, or what is known of it."""
        total = node.partitions.total(node.prices) - node.load_bound.total
        return min(node.saved, total // self.pricing.scale)

    def _gap(self, node: BranchNode) -> int:
        """Return what a placement better than the best may lose by single contents or counts."""
        enough = (self.enough() + 1) * self.pricing.scale
        return node.partitions.total(node.prices) - enough - node.load_bound.total

    def _fitting(self, node: BranchNode, contents: IntArray) -> IntArray:
        """Return those contents [Y, K] that a placement better than the best may have."""
        gap = self._gap(node) + node.load_bound.total
        contents = contents[node.partitions.admits(contents)]
        contents = contents[self._lost(node, contents) <= gap]
        self.pricing.split(self._with_losses(node), contents, gap)
        return contents[self._lost(node, contents) <= gap]

    def _with_losses(self, node: BranchNode) -> IntArray:
        """Return the prices [K, N + 1] of a node and what a place with that many loses."""
        losses = node.partitions.losses(node.prices)
        return np.asarray(node.prices + np.minimum(losses, 2 * self.pricing.most))

    def _lost(self, node: BranchNode, contents: IntArray) -> IntArray:
        """Return [Y] what a placement loses at least that has a node of each content [Y, K]."""
        losses = node.partitions.losses(node.prices)
        costs = self.pricing.reduced_costs(node.prices, contents) + price_of(losses, contents)
        load = node.load_bound
        return np.asarray(costs + load.of_others(contents))

    def _searched(self, node: BranchNode, deadline: float, limits: Limits) -> int:
        """Search the contents that fit the gap, if they are few; return what the node saves."""
        pricing, params, load = self.pricing, self.pricing.params, node.load_bound
        now = pricing.token.now()
        until = now + params.node_search_fraction * (deadline - now)
        priced = self._with_losses(node)

        def fitting(gap: int, deadline: float) -> IntArray:
            room = gap - load.min_of_others
            rows = pricing.below(priced, room, params.max_candidates, deadline)
            rows = rows[node.partitions.admits(rows)]
            return np.asarray(rows[self._lost(node, rows) <= gap])

        def columns(gap: int, deadline: float) -> TypeColumns:
            rows = fitting(gap, deadline)
            if len(rows) > params.max_searched:
                raise TooLongError
            counts = np.concatenate([np.zeros((1, rows.shape[1]), dtype=np.int64), rows])
            return TypeColumns(counts, pricing.values(counts) // pricing.scale)

        total, gap = node.partitions.total(node.prices), self._gap(node) + load.total
        try:
            rows = fitting(gap, until)
        except TooLongError:
            return node.saved
        if len(rows) > params.max_listed:
            return node.saved
        # What has another content saves no more than the best.
        listed = load.with_listed(rows, pricing.reduced_costs(node.prices, rows), gap)
        saved = min(node.saved, max((total - listed.total) // pricing.scale, self.enough()))
        if saved <= self.enough() or len(rows) > params.max_searched:
            return saved
        search = GapSearch(
            self.joint.sizes,
            pricing.scale,
            total,
            total - saved * pricing.scale,
            columns,
            params.residual,
            pricing.token,
        )
        search.on_best, search.enough = self.on_best, self.enough
        search.refine = pricing.split_each
        try:
            if search.best(until, limits) is not None:
                self._left = max(self._left, search.bound)  # no branching cuts it off
        except (TooLongError, NotTakenError):
            pass  # what is proven on the way stands in `search`
        finally:
            self.by_solver |= search.by_solver
        return min(saved, search.bound)

    def _row_to_branch(self, master: CountMaster) -> CountRow | None:
        """Return the row whose children's masters are worth least; ``None``: all are whole."""
        _, optimum = master.prices()
        value = optimum / self.pricing.scale
        gap = max(value - self.enough(), 1.0)
        places = master.places()
        off = np.abs(places - np.rint(places))
        off[:, 0] = 0  # all nodes have no task or more
        candidates = []
        for k in range(len(off)):
            best = np.argsort(-off[k], kind="stable")[:CANDIDATES_A_KIND]
            candidates += [(float(off[k, c]), k, int(c)) for c in best if off[k, c] > FRACTION]
        candidates = sorted(candidates, reverse=True)[:CANDIDATES]
        scored = []
        for _, k, c in candidates:
            self.pricing.token.check()
            row = CountRow(k, c, most=int(np.floor(places[k, c])))
            worth = [master.value_with(side) for side in _sides(row)]
            drops = [min(max(value - one, LEAST_DROP * gap), gap) for one in worth]
            scored.append((drops[0] * drops[1], row))
        return max(scored)[1] if scored else None


def _sides(row: CountRow) -> tuple[CountRow, CountRow]:
    """Return the row and its complement: more places than its number."""
    return row, CountRow(row.kind, row.count, least=row.most + 1)
