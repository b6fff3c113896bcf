"""Network cost of the linear model by levels of places.

The cost is ``d_cluster * pairs - sum over levels of saving * pairs inside its places``, as in the
compact model of CP-SAT. Pairs inside a place are products of counts, linearised by the exact
count of the center: with booleans ``h_i`` = "u is i" (i >= 1, at most one) and ``w_li`` = "count of
leaf l if u is i, else 0",

    u = sum_i i h_i        u * v_l = sum_i i w_li        sum_i w_li <= v_l

and every hard capacity holds for each i by itself: ``sum_l d_l w_li <= (capacity - i d_u) h_i``,
and for u = 0 for what is left. This is far tighter than order-encoded products ("u is at least
i"), which leave the capacity out. Only upper bounds on w are needed, for savings are maximised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from slotwise.models.problem.problem import CLUSTER, RACK, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.milp.builder import Expr, Model, short, total
from slotwise.solver.compact.milp.rlt import network_by_matrix
from slotwise.solver.compact.milp.variables import Counts, Worker, group_names, node_name
from slotwise.solver.compact.star_cover import Stars, stars_of, total_flow


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A worker, node or rack, as the tasks of one topology see it.

    Parameters
    ----------
    name
        For use within names.
    counts
        Group -> (count, its upper bound).
    capacity
        [R] of the hard resources and the heap; `NO_LIMIT` = none.
    """

    name: str
    counts: Mapping[int, tuple[Expr, int]]
    capacity: IntArray


def network(model: Model, problem: Problem, counts: Counts) -> Expr:
    """Return the part ``network``."""
    if problem.matrix is not None:
        return network_by_matrix(model, problem, counts)
    farthest = int(problem.distance[CLUSTER if len(problem.racks) > 1 else RACK])
    products = _Products(model, group_names(problem, counts.layout), _needs(problem))
    cost: list[Expr] = []
    for t, stars in stars_of(problem).items():
        flow = farthest * total_flow(problem, stars)
        cost.append(flow - flow * counts.rejected[t] if t in counts.rejected else flow)
        for saving, places in _savings(problem, counts, t):
            for place in places if saving else ():
                cost.append(-saving * products.inside(place, stars))
    return total(cost)


def _needs(problem: Problem) -> IntArray:
    """Return [C, R]: demand of a task, 0 for soft resources, and its heap."""
    hard = np.where(problem.hard, problem.demand, 0)
    return np.concatenate([hard, problem.heap[:, None]], axis=1)


def _savings(problem: Problem, counts: Counts, topology: int) -> Iterable[tuple[int, list[Place]]]:
    """Yield (saving of a pair inside one of the places, the places), finest level first."""
    worker, node, rack, cluster = (int(d) for d in problem.distance)
    on_node = [_node_place(problem, counts, topology, n) for n in range(problem.node_count)]
    if all(len(counts.workers[topology, n]) <= 1 for n in range(problem.node_count)):
        yield rack - worker, on_node
    else:
        workers = (w for w in counts.all_workers() if w.topology == topology)
        yield node - worker, [_worker_place(problem, counts, w) for w in workers]
        yield rack - node, on_node
    if len(problem.racks) > 1:
        yield cluster - rack, _rack_places(problem, counts, topology, on_node)


def _worker_place(problem: Problem, counts: Counts, worker: Worker) -> Place:
    limit = problem.rules[worker.topology].heap_limit
    return Place(
        worker.name,
        {g: (x, counts.layout.most[g, worker.node]) for g, x in worker.counts.items()},
        np.append(problem.capacity[worker.node], limit),
    )


def _node_place(problem: Problem, counts: Counts, topology: int, node: int) -> Place:
    most = counts.layout.most
    groups = counts.layout.groups_of(problem.rules[topology].classes)
    there = {
        g: (counts.on_node(topology, g, node), most[g, node]) for g in groups if (g, node) in most
    }
    limit = NO_LIMIT
    if len(counts.workers[topology, node]) == 1:
        limit = problem.rules[topology].heap_limit
    return Place(node_name(problem, node), there, np.append(problem.capacity[node], limit))


def _rack_places(
    problem: Problem, counts: Counts, topology: int, on_node: list[Place]
) -> list[Place]:
    places = []
    for r, name in enumerate(problem.racks):
        nodes = [n for n in range(problem.node_count) if problem.node_rack[n] == r]
        rack: dict[int, tuple[Expr, int]] = {}
        for g in counts.layout.groups_of(problem.rules[topology].classes):
            inside = [on_node[n].counts[g] for n in nodes if g in on_node[n].counts]
            most = min(sum(upper for _, upper in inside), counts.layout.groups[g].size)
            if inside:
                rack[g] = (total(count for count, _ in inside), most)
        offered = np.stack([on_node[n].capacity for n in nodes])
        limited = (offered != NO_LIMIT).all(axis=0)
        summed = np.where(limited, offered, 0).sum(axis=0)
        places.append(Place(short(name), rack, np.where(limited, summed, NO_LIMIT)))
    return places


@dataclass(frozen=True, slots=True, eq=False)
class _Products:
    """Linearised products of counts; `needs` per class and resource, `names` per group."""

    model: Model
    names: list[str]
    needs: IntArray

    def inside(self, place: Place, stars: Stars) -> Expr:
        """Return the flow inside a place, as a sum that is never more than that.

        Groups are classes here, so a group's number is its class's.
        """
        return total(
            self._product(place, center, leaves)
            for center, leaves in stars.items()
            if center in place.counts and any(leaf in place.counts for leaf in leaves)
        )

    def _product(self, place: Place, center: int, leaves: dict[int, int]) -> Expr:
        """Return center * (weighted leaves) in the place."""
        u, most_u = place.counts[center]
        there = {leaf: place.counts[leaf] for leaf in leaves if leaf in place.counts}
        name = f"{self.names[center]}_{place.name}"
        held: dict[int, Expr] = {}
        shares: dict[int, dict[int, Expr]] = {}
        for i in range(1, most_u + 1):
            room = place.capacity - i * self.needs[center]
            if (room < 0).any():
                break
            held[i] = self.model.boolean(f"is{i}_{name}")
            shares[i] = self._shares(f"if{i}_{name}", there, held[i], room)
        self.model.at_most(f"one_{name}", total(held.values()), 1)
        self.model.equal(f"count_{name}", u, total(i * h for i, h in held.items()))
        rest = {
            leaf: (v - total(shares[i][leaf] for i in held if leaf in shares[i]), most)
            for leaf, (v, most) in there.items()
        }
        for leaf, (left, _) in rest.items():
            self.model.at_most(f"share_{self.names[leaf]}_{name}", 0, left)
        none = 1 - total(held.values())
        self._capacity(f"if0_{name}", rest, none, place.capacity)
        return total(i * leaves[leaf] * share for i in held for leaf, share in shares[i].items())

    def _shares(
        self, name: str, there: dict[int, tuple[Expr, int]], held: Expr, room: IntArray
    ) -> dict[int, Expr]:
        """Return the counts of the leaves where the center's is i, given the room it leaves."""
        shares = {}
        for leaf, (_, most) in there.items():
            room_for = [
                free // need
                for free, need in zip(room.tolist(), self.needs[leaf].tolist(), strict=True)
                if need
            ]
            fits = min([most, *room_for])
            if fits:
                shares[leaf] = self.model.real(f"w_{self.names[leaf]}_{name}", fits)
                self.model.at_most(f"bound_{self.names[leaf]}_{name}", shares[leaf], fits * held)
        self._capacity(
            name, {leaf: (share, there[leaf][1]) for leaf, share in shares.items()}, held, room
        )
        return shares

    def _capacity(
        self, name: str, there: Mapping[int, tuple[Expr, int]], held: Expr, room: IntArray
    ) -> None:
        """Load of the leaves <= room, both 0 unless the center's count is that."""
        for r, free in enumerate(room.tolist()):
            needs = {leaf: int(self.needs[leaf, r]) for leaf in there if self.needs[leaf, r]}
            most = sum(need * there[leaf][1] for leaf, need in needs.items())
            if len(needs) > 1 and most > free:
                load = total(need * there[leaf][0] for leaf, need in needs.items())
                self.model.at_most(f"room{r}_{name}", load, int(free) * held)
