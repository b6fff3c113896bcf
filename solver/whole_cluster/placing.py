"""Finding room for topologies beside those that a plan has already."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Sequence

import numpy as np
from numpy.random import Generator

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Limits
from slotwise.solver.whole_cluster.layout import Layout, layout_of
from slotwise.solver.whole_cluster.packing import Option, cheapest_packing, size_of
from slotwise.solver.whole_cluster.params import WholeClusterParams
from slotwise.solver.whole_cluster.plan import Plan
from slotwise.solver.whole_cluster.remainder import left_instance, nodes_left, some_nodes
from slotwise.solver.whole_cluster.topologies import TopologyPart, shares_of


class KnownLayouts:
    """At most `most` layouts of each topology, no two with the same fragments."""

    def __init__(self, parts: Sequence[TopologyPart], most: int) -> None:
        self._parts = parts
        self._most = most
        self._of: list[list[Layout]] = [[] for _ in parts]

    def of(self, part: int) -> Sequence[Layout]:
        """Return the layouts of a topology, cheapest first."""
        return self._of[self._parts[part].like]

    def learn(self, part: int, placement: Placement) -> Layout | None:
        """Keep a topology's own placement, on nodes of the whole cluster.

        Return its layout, or ``None`` where it is not valid.
        """
        layout = layout_of(self._parts[part].problem, placement)
        if layout is not None:
            known = self._of[self._parts[part].like]
            if all(
                _fragments(one) != _fragments(layout) for one in known if one.cost == layout.cost
            ):
                insort(known, layout, key=lambda one: (one.cost, len(one.nodes)))
                del known[self._most :]
        return layout


def _fragments(layout: Layout) -> tuple[bytes, ...]:
    """Return the fragments of each rack, in an order of their own."""
    rows = np.column_stack([layout.load, layout.workers])
    return tuple(
        sorted(b"".join(sorted(row.tobytes() for row in rows[group])) for group in layout.groups)
    )


SolveOne = Callable[[Problem, Placement | None, float], Placement | None]
"""Return the best placement found of one topology, from a start, within a number of seconds."""

MOST_PRICE = 2**53
"""Prices in the packing model stay below, in sum."""

LEAST_STEP_S = 0.5


class Placer:
    """Places topologies in the room of a plan: known layouts, or solved on what is left.

    Parameters
    ----------
    problem, parts
        The whole, and its topologies.
    solve
        How one topology is solved.
    token
        Ends it; its deadline is the time that there is.
    """

    def __init__(
        self,
        problem: Problem,
        parts: Sequence[TopologyPart],
        solve: SolveOne,
        token: CancellationToken,
        params: WholeClusterParams,
        seed: int = 0,
    ) -> None:
        self._problem, self._parts, self._solve = problem, parts, solve
        self._token, self._params, self._seed = token, params, seed
        self._time_s = max(token.remaining, 0.0)
        self.known = KnownLayouts(parts, params.layouts)
        self.shares = shares_of(problem, parts)

    def seconds(self, fraction: float) -> float:
        """Return a part of the time that there was at first, at most what is left."""
        wanted = max(fraction * self._time_s, LEAST_STEP_S)
        return min(wanted, max(self._token.remaining, 0.0))

    def place_all(self, plan: Plan, wanted: Collection[int]) -> None:
        """Place the wanted topologies in the room of `plan`, those that find any.

        By first fit, largest first; by the packing model where that leaves some out or takes more
        than their cheapest layouts; the others are solved on what is left.
        """
        before = plan.copy()
        for i in self._by_size(wanted):
            self._put_known(plan, i)
        if not all(self._is_cheapest(plan, i) for i in wanted) and not self._token.is_cancelled:
            self._pack(before, plan, wanted)
        for i in self._by_size(wanted):
            if plan.layouts[i] is None:
                self._put_solved(plan, i)

    def repack(self, plan: Plan, wanted: Collection[int]) -> None:
        """Let the wanted topologies, where they are or elsewhere, take cheaper known layouts."""
        if self._token.is_cancelled or all(self._is_cheapest(plan, i) for i in wanted):
            return
        before = plan.copy()
        for i in wanted:
            before.take_out(i)
        self._pack(before, plan, wanted)

    def _by_size(self, wanted: Collection[int]) -> list[int]:
        return sorted(wanted, key=lambda i: (-self.shares[i], i))

    def _put_known(self, plan: Plan, part: int) -> None:
        for layout in self.known.of(part):
            moved = plan.room.fitted(layout)
            if moved is not None:
                plan.put(part, moved)
                return

    def _put_solved(self, plan: Plan, part: int) -> None:
        """Solve a topology on what is left: as few kinds of nodes, then as all nodes are."""
        for kinds in (self._params.node_kinds, self._problem.node_count):
            layout = self.solved(plan, part, kinds)
            if layout is not None:
                plan.put(part, layout)
                return

    def _is_cheapest(self, plan: Plan, part: int) -> bool:
        layout = plan.layouts[part]
        return layout is not None and layout.cost == self.known.of(part)[0].cost

    def _pack(self, before: Plan, fitted: Plan, wanted: Collection[int]) -> None:
        """Let the packing model choose among the known layouts, where it is small enough."""
        options, hint = [], {}
        for i in wanted:
            now = fitted.layouts[i]
            layouts = [one for one in self.known.of(i) if now is None or one.cost < now.cost]
            if now is not None:
                layouts.append(now)
                hint[i] = now
            options += [Option(i, layout, sum(layout.cost)) for layout in layouts]
        dearest = 1 + sum(max((o.price for o in options if o.part == i), default=0) for i in wanted)
        out = {i: (self._parts[i].weight or 1) * dearest for i in wanted}
        too_dear = dearest + sum(out.values()) >= MOST_PRICE
        size = size_of(options, self._problem.node_count)
        if not options or too_dear or size > self._params.max_packing_size:
            return
        limits = Limits(self.seconds(self._params.packing_fraction), seed=self._seed)
        found = cheapest_packing(before.room, options, out, hint, limits, self._token)
        if found is not None:
            for i in wanted:
                fitted.take_out(i)
            for i, layout in found.items():
                fitted.put(i, layout)

    def solved(
        self,
        plan: Plan,
        part: int,
        kinds: int,
        start: Layout | None = None,
        withhold: Generator | None = None,
    ) -> Layout | None:
        """Return a layout of a topology in the room of `plan`; ``None`` where none is found.

        Parameters
        ----------
        kinds
            Most kinds of nodes that are told apart.
        start
            Where it was.
        withhold
            Chooses nodes that are left to others; ``None`` = no node is.
        """
        if self._token.is_cancelled:
            return None
        one = self._parts[part]
        left = nodes_left(one.problem, plan.room.capacity, plan.room.slots, kinds)
        if left is None:
            return None
        if withhold is not None:
            left = some_nodes(one.problem, left, withhold)
        own = compile_problem(left_instance(one.problem, one.topology, left))
        first = None if start is None else left.projected(start.placement)
        found = self._solve(own, first, self.seconds(self._params.step_fraction))
        if found is None:
            return None
        layout = self.known.learn(part, left.restored(found))
        return layout if layout is not None and plan.room.holds(layout) else None
