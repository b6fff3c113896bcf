"""A plan for all topologies together: built from their own placements, then improved.

A plan is built by first fit, largest topology first, and by the exact choice among the known
layouts (`packing`) where that model is small. It is improved by large neighbourhoods: one topology
is solved anew on what some of the others leave, and the rest find room again by `packing`, by
first fit, or by being solved on the remainder as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.core.result import Limits
from slotwise.solver.whole_cluster.layout import Layout
from slotwise.solver.whole_cluster.layouts import KnownLayouts
from slotwise.solver.whole_cluster.packing import Option, cheapest_packing, size_of
from slotwise.solver.whole_cluster.params import WholeClusterParams
from slotwise.solver.whole_cluster.plan import Plan, own_placement
from slotwise.solver.whole_cluster.remainder import NodesLeft, left_instance, nodes_left
from slotwise.solver.whole_cluster.topologies import TopologyPart

SolveOne = Callable[[Problem, Placement | None, float], Placement | None]
"""Return the best placement found of one topology, from a start, within so many seconds."""

Polish = Callable[[float], Placement | None]
"""Return the best placement of the whole after so many seconds of local search."""

MOST_PRICE = 2**53
"""Prices in the packing model stay below, in sum."""

LEAST_STEP_S = 0.5


class PlanSearch:
    """The best plan so far, and how to better it.

    Parameters
    ----------
    problem, parts
        The whole, and its topologies.
    bounds
        Per part: the proven bound of its cost, in each term.
    solve
        How one topology is solved.
    polish
        How the best plan is improved task by task.
    offer
        Called with each better plan.
    token
        Ends the search; its deadline is the time that there is.
    """

    def __init__(
        self,
        problem: Problem,
        parts: Sequence[TopologyPart],
        bounds: Sequence[tuple[int, ...]],
        solve: SolveOne,
        polish: Polish,
        offer: Callable[[Plan], object],
        token: CancellationToken,
        params: WholeClusterParams,
        seed: int = 0,
    ) -> None:
        self._problem, self._parts, self._bounds = problem, parts, bounds
        self._solve, self._polish, self._offer = solve, polish, offer
        self._token, self._params = token, params
        self._seed = seed
        self._rng = np.random.default_rng(seed)
        self.known = KnownLayouts(parts, params.layouts)
        self._share = [_share(problem, part) for part in parts]
        self.best = Plan(problem, parts)
        self._time_s = max(token.remaining, 0.0)

    @property
    def at_bound(self) -> bool:
        """Whether every topology is placed at its bound."""
        return all(
            layout is not None and layout.cost == bound
            for layout, bound in zip(self.best.layouts, self._bounds, strict=True)
        )

    @property
    def _is_over(self) -> bool:
        return self.at_bound or self._token.is_cancelled

    def read(self, placement: Placement) -> None:
        """Learn the layouts of a placement of the whole; keep it where no plan is better."""
        plan = Plan(self._problem, self._parts)
        for i, part in enumerate(self._parts):
            own = own_placement(part, placement)
            layout = None if own is None else self.known.learn(i, own)
            if layout is not None:
                plan.put(i, layout)
        if plan.value <= self.best.value:
            self.best = plan

    def build(self) -> None:
        """Put the known layouts side by side, as far as they fit."""
        plan = Plan(self._problem, self._parts)
        self._place_all(plan, range(len(self._parts)))
        self._accept(plan)

    def improve(self) -> None:
        """Solve topologies anew on what others leave, until nothing better is found for long."""
        idle = 0
        while idle < self._params.idle_steps and not self._is_over:
            import time
            t0=time.perf_counter()
            plan = self.best.copy()
            part = self._choose()
            others = self._others(part)
            start = plan.take_out(part)
            for i in others:
                plan.take_out(i)
            kinds = self._params.node_kinds
            found = self._solved_on_remainder(plan, part, kinds, start, withhold=True)
            tm=time.perf_counter()
            if found is not None:
                plan.put(part, found)
                others = [i for i in others if i != part]
            else:
                others = [part, *others]
            self._place_all(plan, others)
            t1=time.perf_counter(); 
            val=plan.value
            idle = 0 if self._accept(plan) else idle + 1
            if idle % self._params.polish_every == 0 and not self._is_over:
                better = self._polish(self._seconds(self._params.polish_fraction))
                if better is not None:
                    self.read(better)
            import sys
            print("STEP",self._parts[part].id[-2:],len(others),None if found is None else (found.cost,len(found.nodes)),None if start is None else start.cost,self._bounds[part],"solve %.1f place %.1f"%(tm-t0,t1-tm),val,self.best.value,file=sys.stderr,flush=True)

    def _accept(self, plan: Plan) -> bool:
        """Keep a plan that is not worse; return whether it is better."""
        if plan.value > self.best.value:
            return False
        is_better = plan.value < self.best.value
        self.best = plan
        if is_better:
            self._offer(plan)
        return is_better

    def _choose(self) -> int:
        """Return a topology that may cost less, more likely one that costs more than its bound."""
        excess = np.zeros(len(self._parts))
        for i, layout in enumerate(self.best.layouts):
            if layout is None:
                excess[i] = np.inf
            else:
                excess[i] = sum(layout.cost) - sum(self._bounds[i])
        finite = excess[np.isfinite(excess)].max(initial=1.0)
        weights = np.sqrt(np.where(np.isfinite(excess), excess, 2 * finite) + 1e-3 * finite)
        return int(self._rng.choice(len(weights), p=weights / weights.sum()))

    def _others(self, part: int) -> list[int]:
        """Return which other topologies make way: those left out, and a share of the smaller."""
        chance = self._rng.choice([0.3, 0.7, 1.0])
        smaller = [
            i
            for i in range(len(self._parts))
            if i != part and (self._share[i] <= self._share[part] or self._rng.random() < 0.2)
        ]
        out = set(self.best.left_out) - {part}
        return sorted(out | {i for i in smaller if self._rng.random() < chance})

    def _place_all(self, plan: Plan, wanted: Collection[int]) -> None:
        """Place the wanted topologies in the room of `plan`, those that find any."""
        before = plan.copy()
        by_fit = [i for i in self._by_size(wanted) if not self._put_known(plan, i)]
        cheapest = all(
            layout is not None and layout.cost == self.known.of(i)[0].cost
            for i in wanted
            for layout in [plan.layouts[i]]
        )
        if not cheapest and not self._is_over:
            found = self._packed(before, plan, wanted)
            if found is not None:
                for i in wanted:
                    plan.take_out(i)
                for i, layout in found.items():
                    plan.put(i, layout)
                by_fit = [i for i in self._by_size(wanted) if i not in found]
        for i in by_fit:
            for kinds in (self._params.node_kinds, self._problem.node_count):
                one = self._solved_on_remainder(plan, i, kinds)
                if one is not None:
                    plan.put(i, one)
                    break

    def _by_size(self, wanted: Collection[int]) -> list[int]:
        return sorted(wanted, key=lambda i: (-self._share[i], i))

    def _put_known(self, plan: Plan, part: int) -> bool:
        """Put the cheapest known layout that fits; return whether one does."""
        for layout in self.known.of(part):
            moved = plan.room.fitted(layout)
            if moved is not None:
                plan.put(part, moved)
                return True
        return False

    def _packed(
        self, before: Plan, fitted: Plan, wanted: Collection[int]
    ) -> dict[int, Layout] | None:
        """Return the layouts that the packing model chooses; ``None`` where it has no answer."""
        options, hint = [], {}
        for i in wanted:
            now = fitted.layouts[i]
            layouts = [one for one in self.known.of(i) if now is None or one.cost < now.cost]
            if now is not None:
                layouts.append(now)
                hint[i] = now
            options += [Option(i, layout, sum(layout.cost)) for layout in layouts]
        most = 1 + sum(max((o.price for o in options if o.part == i), default=0) for i in wanted)
        weights = {i: self._parts[i].weight or 1 for i in wanted}
        size = size_of(options, self._problem.node_count)
        too_dear = most * (1 + sum(weights.values())) >= MOST_PRICE
        if not options or too_dear or size > self._params.max_packing_size:
            return None
        limits = Limits(self._seconds(self._params.packing_fraction), seed=self._seed)
        out = {i: weight * most for i, weight in weights.items()}
        return cheapest_packing(before.room, options, out, hint, limits, self._token)

    def _seconds(self, fraction: float) -> float:
        wanted = max(fraction * self._time_s, LEAST_STEP_S)
        return min(wanted, max(self._token.remaining, 0.0))

    def _solved_on_remainder(
        self,
        plan: Plan,
        part: int,
        kinds: int,
        start: Layout | None = None,
        *,
        withhold: bool = False,
    ) -> Layout | None:
        """Return a layout of a topology in the room of `plan`; ``None`` where none is found."""
        if self._token.is_cancelled:
            return None
        one = self._parts[part]
        left = nodes_left(one.problem, plan.room.capacity, plan.room.slots, kinds)
        if left is not None and withhold:
            left = self._some(left, part)
        if left is None:
            return None
        own = compile_problem(left_instance(one.problem, one.topology, left))
        first = None if start is None else left.projected(start.placement)
        found = self._solve(own, first, self._seconds(self._params.step_fraction))
        if found is None:
            return None
        layout = self.known.learn(part, left.restored(found))
        return layout if layout is not None and plan.room.holds(layout) else None

    def _some(self, left: NodesLeft, part: int) -> NodesLeft:
        """Return what is left without some nodes, which others may need."""
        spare = len(left.nodes) - int(1.05 * self._nodes_needed(left, part)) - 1
        if spare < 1 or self._rng.random() < 0.3:
            return left
        # fewest nodes are withheld most often: the cost of the topology rises with each
        count = min(int(self._rng.geometric(0.3)), spare)
        keep = np.ones(len(left.nodes), dtype=np.bool_)
        keep[self._rng.choice(len(keep), size=count, replace=False)] = False
        return NodesLeft(left.nodes[keep], left.capacity[keep], left.slots[keep])

    def _nodes_needed(self, left: NodesLeft, part: int) -> float:
        problem = self._parts[part].problem
        demand = np.array(problem.sizes, dtype=np.int64) @ problem.demand
        bounded = (left.capacity != NO_LIMIT).all(axis=0)
        mean = left.capacity.mean(axis=0)
        shares = demand[bounded] / np.maximum(mean[bounded], 1e-9)
        return float(shares.max(initial=0.0))


def _share(problem: Problem, part: TopologyPart) -> float:
    """Return the largest share of the cluster that a topology needs of any resource."""
    own = part.problem
    demand = np.array(own.sizes, dtype=np.int64) @ own.demand
    bounded = (problem.capacity != NO_LIMIT).all(axis=0)
    total = np.maximum(problem.capacity.sum(axis=0, where=bounded), 1)
    return float((demand[bounded] / total[bounded]).max(initial=0.0))
