"""Finding room for topologies beside those that a plan has placed already."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken, CancelledError
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact import run_cp_sat
from slotwise.solver.core.result import Limits
from slotwise.solver.parameters import Parameters
from slotwise.solver.whole_cluster.plan import Layout, Plan, Room, layout_of
from slotwise.solver.whole_cluster.topologies import (
    TopologyPart,
    flow_per_share,
    left_instance,
    may_fit,
    nodes_left,
    shares_of,
    some_nodes,
)


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
        """Add a topology's own placement, on nodes of the whole cluster.

        Return its layout, or ``None`` where it is not valid.
        """
        layout = layout_of(self._parts[part].problem, placement)
        if layout is not None:
            layouts = self._of[self._parts[part].like]
            if all(
                _fragments(one) != _fragments(layout) for one in layouts if one.cost == layout.cost
            ):
                insort(layouts, layout, key=lambda one: (one.cost, len(one.nodes)))
                del layouts[self._most :]
        return layout


def _fragments(layout: Layout) -> tuple[bytes, ...]:
    """Return the fragments of each rack, in a canonical order."""
    rows = np.column_stack([layout.load, layout.workers])
    return tuple(
        sorted(b"".join(sorted(row.tobytes() for row in rows[group])) for group in layout.groups)
    )


SolveOne = Callable[[Problem, Placement | None, float], Placement | None]
"""(problem, start, seconds) -> the best placement of one topology found within the time."""

MOST_PRICE = 2**53
"""Upper bound of the sum of prices in the packing model."""

LEAST_STEP_S = 0.5

SPARE = 0.05
"""Part of the places for a topology, more than it has tasks, that are kept free until it is placed.
"""


class Placer:
    """Places topologies in the room of a plan: by known layouts, or solved on the capacity left.

    Parameters
    ----------
    problem, parts
        The whole problem, and its topologies.
    solve
        How one topology is solved.
    token
        Ends it; its deadline is the time limit.
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
        self.layouts = KnownLayouts(parts, params.layouts)
        self.shares = shares_of(problem, parts)
        self.largest_first = _descending(self.shares)
        self.densest_first = _descending(flow_per_share(parts, self.shares))

    def seconds(self, fraction: float) -> float:
        """Return a share of the initial time, at most the time left."""
        share = max(fraction * self._time_s, LEAST_STEP_S)
        return min(share, max(self._token.remaining, 0.0))

    def place_all(self, plan: Plan, topologies: Collection[int], order: Sequence[int]) -> None:
        """Place the wanted topologies in the room of `plan`, as far as it suffices.

        By first fit in this order, except that a topology comes earlier where the next one would
        leave too few places for it; by the packing model where that leaves some out or takes more
        than their cheapest layouts; the others are solved on the remaining capacity.
        """
        before, wanted = plan.copy(), [i for i in order if i in topologies]
        waiting, solved = list(wanted), set[int]()
        while waiting:
            i = waiting.pop(0)
            self._put_known(plan, i)
            urgent = self._only_without(plan, i, [j for j in wanted if j not in solved])
            if urgent:
                plan.take_out(i)
                for j in urgent:
                    self._put(plan, j)
                solved.update(urgent)
                waiting = [i, *(j for j in waiting if j not in urgent)]
        if not all(self._is_cheapest(plan, i) for i in wanted) and not self._token.is_cancelled:
            self._pack(before, plan, wanted)
        for i in wanted:
            if plan.layouts[i] is None:
                self._put_solved(plan, i)

    def repack(self, plan: Plan, topologies: Collection[int]) -> None:
        """Give the wanted topologies cheaper known layouts, on the same nodes or others."""
        if self._token.is_cancelled or all(self._is_cheapest(plan, i) for i in topologies):
            return
        before = plan.copy()
        for i in topologies:
            before.take_out(i)
        self._pack(before, plan, topologies)

    def _only_without(self, plan: Plan, part: int, topologies: Iterable[int]) -> list[int]:
        """Return those that wait and may fit the room of a plan only without a topology in it."""

        def lack_room(those: Iterable[int]) -> list[int]:
            room = plan.room
            return [
                j for j in those if not may_fit(self._parts[j], room.capacity, room.slots, SPARE)
            ]

        layout = plan.layouts[part]
        crowded = lack_room(j for j in topologies if plan.layouts[j] is None)
        if layout is None or not crowded:
            return []
        plan.take_out(part)
        lost = lack_room(crowded)
        plan.put(part, layout)
        return [j for j in crowded if j not in lost]

    def _put(self, plan: Plan, part: int) -> None:
        """Place a topology by a known layout, or else solved on the capacity left."""
        self._put_known(plan, part)
        if plan.layouts[part] is None:
            self._put_solved(plan, part)

    def _put_known(self, plan: Plan, part: int) -> None:
        for layout in self.layouts.of(part):
            moved = plan.room.fitted(layout)
            if moved is not None:
                plan.put(part, moved)
                return

    def _put_solved(self, plan: Plan, part: int) -> None:
        """Solve a topology on the capacity left: first with few kinds of nodes, then exactly."""
        for kinds in (self._params.node_kinds, self._problem.node_count):
            layout = self.solved(plan, part, kinds)
            if layout is not None:
                plan.put(part, layout)
                return

    def _is_cheapest(self, plan: Plan, part: int) -> bool:
        layout = plan.layouts[part]
        return layout is not None and layout.cost == self.layouts.of(part)[0].cost

    def _pack(self, before: Plan, fitted: Plan, topologies: Collection[int]) -> None:
        """Let the packing model choose among the known layouts, where it is small enough."""
        options, hint = [], {}
        for i in topologies:
            now = fitted.layouts[i]
            layouts = [one for one in self.layouts.of(i) if now is None or one.cost < now.cost]
            if now is not None:
                layouts.append(now)
                hint[i] = now
            options += [Option(i, layout, sum(layout.cost)) for layout in layouts]
        dearest = 1 + sum(
            max((o.price for o in options if o.part == i), default=0) for i in topologies
        )
        out = {i: (self._parts[i].weight or 1) * dearest for i in topologies}
        too_dear = dearest + sum(out.values()) >= MOST_PRICE
        size = size_of(options, self._problem.node_count)
        if not options or too_dear or size > self._params.max_packing_size:
            return
        limits = Limits(self.seconds(self._params.packing_fraction), seed=self._seed)
        packing = cheapest_packing(before.room, options, out, hint, limits, self._token)
        if packing is not None:
            for i in topologies:
                fitted.take_out(i)
            for i, layout in packing.items():
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
            Most kinds of nodes that are distinguished.
        start
            Its previous placement.
        withhold
            Chooses nodes to reserve for others; ``None`` = none.
        """
        if self._token.is_cancelled:
            return None
        topology = self._parts[part]
        room = plan.room
        try:
            left = nodes_left(topology.problem, room.capacity, room.slots, kinds, self._token)
        except CancelledError:
            return None
        if left is None or not may_fit(topology, left.capacity, left.slots):
            return None
        if withhold is not None:
            left = some_nodes(topology.problem, left, withhold)
        own = compile_problem(left_instance(topology.problem, topology.topology, left))
        first = None if start is None else left.projected(start.placement)
        placement = self._solve(own, first, self.seconds(self._params.step_fraction))
        if placement is None:
            return None
        layout = self.layouts.learn(part, left.restored(placement))
        return layout if layout is not None and plan.room.holds(layout) else None


def _descending(values: Sequence[float]) -> tuple[int, ...]:
    """Return the positions of the values, largest first, equal ones in their order."""
    return tuple(sorted(range(len(values)), key=lambda i: -values[i]))


# Which known layout each topology takes, and where: the cheapest choice that fits, by CP-SAT.
#
# A boolean for each layout of each topology, one for each of its groups in each rack, and one for
# each kind of its fragments (equal load and workers) on each node. Loads and workers fit every
# node; the groups of a layout go to racks of their own and its fragments to nodes of their own.
# The model chooses among layouts that are known, so its optimum is not a bound of the problem.


@dataclass(frozen=True, slots=True)
class Option:
    """A layout that a topology may take, and its price."""

    part: int
    layout: Layout
    price: int


@dataclass(frozen=True, slots=True)
class _Kind:
    """Equal fragments of one group of one option: their indices in the layout."""

    option: int
    group: int
    fragments: tuple[int, ...]


def size_of(options: Sequence[Option], nodes: int) -> int:
    """Return how many booleans the model has, roughly."""
    return nodes * sum(len(_kinds(0, option.layout)) for option in options)


def cheapest_packing(
    room: Room,
    options: Sequence[Option],
    out: Mapping[int, int | None],
    hint: Mapping[int, Layout],
    limits: Limits,
    token: CancellationToken,
) -> dict[int, Layout] | None:
    """Return the layouts, moved, of the topologies in `out` that the model places in `room`.

    ``None`` where it finds no solution in time.

    Parameters
    ----------
    options
        For the topologies in `out`.
    out
        The price of leaving each topology out; ``None`` = it must be placed.
    hint
        Layouts where they fit, of the topologies that have one.
    """
    model = _Model(room, options, out)
    model.hint(hint)
    answer = run_cp_sat(model.model, limits, token)
    if not answer.has_solution:
        return None
    return model.read(lambda boolean: bool(answer.solver.value(boolean)))


class _Model:
    """The model and its variables."""

    def __init__(
        self, room: Room, options: Sequence[Option], out: Mapping[int, int | None]
    ) -> None:
        self.model = cp_model.CpModel()
        self._room, self._options = room, options
        self._use = [self.model.new_bool_var("") for _ in options]
        self._kinds = [kind for o, one in enumerate(options) for kind in _kinds(o, one.layout)]
        self._in_rack: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self._on: dict[tuple[int, int], cp_model.IntVar] = {}
        self._choose(out)
        self._spread()
        self._fit()

    def _choose(self, out: Mapping[int, int | None]) -> None:
        price: list[cp_model.LinearExpr] = [
            one.price * use for one, use in zip(self._options, self._use, strict=True)
        ]
        for part, cost in out.items():
            uses = [
                use for one, use in zip(self._options, self._use, strict=True) if one.part == part
            ]
            if cost is None:
                self.model.add_exactly_one(uses)
            else:
                left_out = self.model.new_bool_var("")
                self.model.add_exactly_one([*uses, left_out])
                price.append(cost * left_out)
        self.model.minimize(sum(price))

    def _spread(self) -> None:
        """Send each group to a rack of its own, and each fragment to a node of that rack."""
        racks = sorted(set(self._room.rack.tolist()))
        for o, option in enumerate(self._options):
            groups = range(len(option.layout.groups))
            for g in groups:
                for r in racks:
                    self._in_rack[o, g, r] = self.model.new_bool_var("")
                self.model.add(sum(self._in_rack[o, g, r] for r in racks) == self._use[o])
            if len(groups) > 1:
                for r in racks:
                    self.model.add_at_most_one(self._in_rack[o, g, r] for g in groups)
        for k, kind in enumerate(self._kinds):
            layout = self._options[kind.option].layout
            load, workers = layout.load[kind.fragments[0]], layout.workers[kind.fragments[0]]
            fits = (load <= self._room.capacity).all(axis=1) & (workers <= self._room.slots)
            by_rack: dict[int, list[cp_model.IntVar]] = defaultdict(list)
            for n in np.flatnonzero(fits).tolist():
                self._on[k, n] = self.model.new_bool_var("")
                by_rack[int(self._room.rack[n])].append(self._on[k, n])
            for r in racks:
                here = self._in_rack[kind.option, kind.group, r]
                self.model.add(sum(by_rack[r]) == len(kind.fragments) * here)

    def _fit(self) -> None:
        """Keep capacities and slots, and fragments of one layout on different nodes."""
        on_node: dict[int, list[int]] = defaultdict(list)
        for k, n in self._on:
            on_node[n].append(k)
        for n, kinds in on_node.items():
            rows = [(self._needs(k), self._on[k, n]) for k in kinds]
            limits = [*self._room.capacity[n].tolist(), int(self._room.slots[n])]
            for d, limit in enumerate(limits):
                if limit != NO_LIMIT:
                    used = [(int(need[d]), on) for need, on in rows if need[d]]
                    if sum(need for need, _ in used) > limit:
                        self.model.add(sum(need * on for need, on in used) <= limit)
            by_option: dict[int, list[cp_model.IntVar]] = defaultdict(list)
            for k in kinds:
                by_option[self._kinds[k].option].append(self._on[k, n])
            for alternatives in by_option.values():
                if len(alternatives) > 1:
                    self.model.add_at_most_one(alternatives)

    def _needs(self, k: int) -> IntArray:
        kind = self._kinds[k]
        layout, f = self._options[kind.option].layout, kind.fragments[0]
        return np.append(layout.load[f], layout.workers[f])

    def hint(self, layouts: Mapping[int, Layout]) -> None:
        """Start from these layouts, where they are options of their topologies."""
        chosen = {}
        for o, option in enumerate(self._options):
            layout = layouts.get(option.part)
            if layout is option.layout:
                chosen[o] = layout
        for o, use in enumerate(self._use):
            self.model.add_hint(use, o in chosen)
        for (o, g, r), here in self._in_rack.items():
            layout = chosen.get(o)
            at = None if layout is None else int(self._room.rack[layout.nodes[layout.groups[g][0]]])
            self.model.add_hint(here, at == r)
        nodes = [
            {int(self._options[kind.option].layout.nodes[f]) for f in kind.fragments}
            for kind in self._kinds
        ]
        for (k, n), on in self._on.items():
            self.model.add_hint(on, self._kinds[k].option in chosen and n in nodes[k])

    def read(self, value: Callable[[cp_model.IntVar], bool]) -> dict[int, Layout]:
        """Return the layouts of a solution, on their nodes."""
        layouts = {}
        for o, option in enumerate(self._options):
            if not value(self._use[o]):
                continue
            targets = np.full(len(option.layout.nodes), -1, dtype=np.int64)
            for k, kind in enumerate(self._kinds):
                if kind.option == o:
                    here = [n for (one, n), on in self._on.items() if one == k and value(on)]
                    targets[list(kind.fragments)] = here
            layouts[option.part] = option.layout.moved(targets)
        return layouts


def _kinds(option: int, layout: Layout) -> list[_Kind]:
    nodes_of: dict[tuple[int, bytes, int], list[int]] = defaultdict(list)
    for g, group in enumerate(layout.groups):
        for f in group.tolist():
            nodes_of[g, layout.load[f].tobytes(), int(layout.workers[f])].append(f)
    return [_Kind(option, g, tuple(several)) for (g, _, _), several in nodes_of.items()]


@dataclass(frozen=True, slots=True)
class WholeClusterParams(Parameters):
    """How far the search for a plan goes.

    Parameters
    ----------
    from_tasks
        With fewer tasks the engines that prove take the whole problem at once.
    alone_fraction, alone_s
        Of the time that is left, for all topologies alone; most seconds for each of them.
    search_fraction
        Of the time that is left after that, for the plan of all together.
    layouts
        Most layouts that are kept of a topology.
    node_kinds
        Most kinds of nodes among which a topology is solved on a remainder.
    max_packing_size
        Most booleans of the packing model; above that first fit alone packs.
    packing_fraction, step_fraction
        Of the time of the search: for one packing model, and for solving one topology on a
        remainder.
    polish_every, polish_fraction
        After each better plan and after this number of steps without one local search improves it;
        its part of the time of the search.
    idle_steps
        The search ends after this number of steps without a better plan.
    """

    from_tasks: int = 60
    alone_fraction: float = 0.5
    alone_s: float = 86_400.0
    search_fraction: float = 0.8
    layouts: int = 8
    node_kinds: int = 4
    max_packing_size: int = 60_000
    packing_fraction: float = 0.1
    step_fraction: float = 0.06
    polish_every: int = 8
    polish_fraction: float = 0.03
    idle_steps: int = 60


WHOLE_CLUSTER_DEFAULTS = WholeClusterParams()
