"""Which known layout each topology takes, and where: the cheapest choice that fits, by CP-SAT.

A boolean for each layout of each topology, one for each of its groups in each rack, and one for
each kind of its fragments (equal load and workers) on each node. Loads and workers fit every node;
the groups of a layout go to racks of their own and its fragments to nodes of their own. The model
chooses among layouts that are known, so its optimum is not a bound of the problem.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import IntArray
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact import run_cp_sat
from slotwise.solver.core.result import Limits
from slotwise.solver.whole_cluster.layout import Layout
from slotwise.solver.whole_cluster.room import Room


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
            for several in by_option.values():
                if len(several) > 1:
                    self.model.add_at_most_one(several)

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
        found = {}
        for o, option in enumerate(self._options):
            if not value(self._use[o]):
                continue
            targets = np.full(len(option.layout.nodes), -1, dtype=np.int64)
            for k, kind in enumerate(self._kinds):
                if kind.option == o:
                    here = [n for (one, n), on in self._on.items() if one == k and value(on)]
                    targets[list(kind.fragments)] = here
            found[option.part] = option.layout.moved(targets)
        return found


def _kinds(option: int, layout: Layout) -> list[_Kind]:
    found: dict[tuple[int, bytes, int], list[int]] = defaultdict(list)
    for g, group in enumerate(layout.groups):
        for f in group.tolist():
            found[g, layout.load[f].tobytes(), int(layout.workers[f])].append(f)
    return [_Kind(option, g, tuple(several)) for (g, _, _), several in found.items()]
