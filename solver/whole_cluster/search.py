"""A plan for all topologies together: built from their own placements, then improved.

A plan is improved by large neighbourhoods: one topology is solved again on the capacity that some
others leave, and the rest are placed again; known layouts of many topologies are repacked; or all
are placed again in another order. In between a local search moves single tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.whole_cluster.placing import Placer, WholeClusterParams
from slotwise.solver.whole_cluster.plan import Plan, own_placement
from slotwise.solver.whole_cluster.topologies import TopologyPart

FloatArray = NDArray[np.float64]

Polish = Callable[[float], Placement | None]
"""(seconds) -> the best placement of the whole after that time of local search."""

CHANCES = (0.3, 0.7, 1.0)
"""Probabilities of removing each smaller topology; one of them is drawn for a step."""

CHANCE_OF_LARGER = 0.2
"""Probability of removing a larger topology, too."""

CHANCE_OF_REBUILDING = 0.3
"""Probability that all are placed again with one earlier that has not the cheapest of its layouts
(squeaky wheel optimisation, Joslin and Clements, 1999)."""

CHANCE_OF_REPACKING = 0.3
"""Probability that a step only repacks known layouts, of one topology and all smaller ones."""


class PlanSearch:
    """The best plan so far, and the search for better ones.

    Parameters
    ----------
    problem, parts
        The whole, and its topologies.
    bounds
        Per part: the proven bound of its cost, in each term.
    placer
        How topologies find room.
    polish
        How the best plan is improved task by task.
    offer
        Called with each better plan.
    token
        Ends the search.
    """

    def __init__(
        self,
        problem: Problem,
        parts: Sequence[TopologyPart],
        bounds: Sequence[tuple[int, ...]],
        placer: Placer,
        polish: Polish,
        offer: Callable[[Plan], object],
        token: CancellationToken,
        params: WholeClusterParams,
        seed: int = 0,
    ) -> None:
        self._problem, self._parts, self._bounds = problem, parts, bounds
        self._placer, self._polish, self._offer = placer, polish, offer
        self._token, self._params = token, params
        self._rng = np.random.default_rng(seed)
        self.best = Plan(problem, parts)
        self._order: Sequence[int] = placer.densest_first

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
        """Add the layouts of a whole placement; keep it as the plan where none is better."""
        plan = Plan(self._problem, self._parts)
        for i, part in enumerate(self._parts):
            own = own_placement(part, placement)
            layout = None if own is None else self._placer.layouts.learn(i, own)
            if layout is not None:
                plan.put(i, layout)
        if plan.value <= self.best.value:
            self.best = plan

    def build(self) -> None:
        """Place the known layouts side by side, and solve the others on the capacity left.

        Those with the most flow per capacity come first: they lose most by what others leave them.
        Where that leaves some out, another plan has the largest ones first.
        """
        placer = self._placer
        for order in (placer.densest_first, placer.largest_first):
            plan = self._build_in(order)
            if not plan.left_out or self._token.is_cancelled:
                break

    def _build_in(self, order: Sequence[int]) -> Plan:
        """Return a new plan of all topologies, placed in this order; keep both if it is better."""
        plan = Plan(self._problem, self._parts)
        self._placer.place_all(plan, range(len(self._parts)), order)
        if self._accept(plan):
            self._order = order
        return plan

    def improve(self) -> None:
        """Improve the plan step by step, until `idle_steps` bring nothing better."""
        idle = 0
        while idle < self._params.idle_steps and not self._is_over:
            idle = 0 if self._step() else idle + 1
            if idle % self._params.polish_every == 0 and not self._is_over:
                better = self._polish(self._placer.seconds(self._params.polish_fraction))
                if better is not None:
                    self.read(better)

    def _step(self) -> bool:
        """Change the best plan in one of three ways; return whether that made it better."""
        kind, losses = self._rng.random(), self._losses()
        if kind < CHANCE_OF_REBUILDING and losses.any():
            before = self.best.value
            self._build_in(self._with_earlier(self._choose(losses)))
            return self.best.value < before
        plan, part = self.best.copy(), self._choose(self._excesses())
        if kind < CHANCE_OF_REBUILDING + CHANCE_OF_REPACKING:
            shares = self._placer.shares
            most = max(shares[part], float(np.median(shares)))
            self._placer.repack(plan, [i for i, share in enumerate(shares) if share <= most])
        else:
            self._solve_again(plan, part)
        return self._accept(plan)

    def _with_earlier(self, part: int) -> list[int]:
        """Return the order of the best plan that was built, with a topology at an earlier place."""
        position = self._order.index(part)
        others = [i for i in self._order if i != part]
        others.insert(int(self._rng.integers(max(position, 1))), part)
        return others

    def _solve_again(self, plan: Plan, part: int) -> None:
        """Remove some topologies, solve one on the capacity left, and place the others again."""
        others = self._others(part)
        start = plan.take_out(part)
        for i in others:
            plan.take_out(i)
        kinds = self._params.node_kinds
        layout = self._placer.solved(plan, part, kinds, start, withhold=self._rng)
        if layout is not None:
            plan.put(part, layout)
        placer = self._placer
        order = (placer.densest_first, placer.largest_first)[int(self._rng.integers(2))]
        placer.place_all(plan, others if layout is not None else [part, *others], order)

    def _accept(self, plan: Plan) -> bool:
        """Accept a plan that is not worse; return whether it is better."""
        if plan.value > self.best.value:
            return False
        is_better = plan.value < self.best.value
        self.best = plan
        if is_better:
            self._offer(plan)
        return is_better

    def _excesses(self) -> FloatArray:
        """Return what each topology costs above its bound; infinite where it is left out."""
        return self._above(self._bounds)

    def _losses(self) -> FloatArray:
        """Return the same above the cheapest layout known of each topology."""
        layouts = self._placer.layouts
        cheapest = [layouts.of(i)[0].cost if layouts.of(i) else () for i in range(len(self._parts))]
        return self._above(cheapest)

    def _above(self, costs: Sequence[tuple[int, ...]]) -> FloatArray:
        excess = [
            np.inf if layout is None else max(0, sum(layout.cost) - sum(cost))
            for layout, cost in zip(self.best.layouts, costs, strict=True)
        ]
        return np.array(excess, dtype=np.float64)

    def _choose(self, excess: FloatArray) -> int:
        """Return a topology, more likely one of which more is given."""
        most = excess[np.isfinite(excess)].max(initial=1.0)
        weights = np.sqrt(np.where(np.isfinite(excess), excess, 2 * most) + 1e-3 * most)
        return int(self._rng.choice(len(weights), p=weights / weights.sum()))

    def _others(self, part: int) -> list[int]:
        """Return the other topologies to remove: those left out, and a share of the smaller."""
        chance, shares = self._rng.choice(CHANCES), self._placer.shares
        smaller = [
            i
            for i, share in enumerate(shares)
            if share <= shares[part] or self._rng.random() < CHANCE_OF_LARGER
        ]
        out = {i for i in smaller if self._rng.random() < chance} | set(self.best.left_out)
        return sorted(out - {part})
