"""The terms in order, over the columns of a `ColumnModel`.

For each term: the LP relaxation bounds it and gives every column a reduced cost; CP-SAT finds the
best solution among the columns of least reduced cost (the restricted integer program); every
better solution uses only columns whose reduced cost fits the gap, and if all of these were among
them the solution is optimal. Terms that are proven become limits of the later ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from slotwise.models.errors import InternalError
from slotwise.models.problem.problem import BoolArray, IntArray, Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.column_generation.columns.model import (
    ColumnExpression,
    ColumnModel,
    ColumnSolution,
    make_column_model,
    placement_of,
)
from slotwise.solver.column_generation.columns.pricing import (
    DualSolution,
    Limit,
    may_be_feasible,
    solve_relaxation,
)
from slotwise.solver.column_generation.columns.restricted_ip import (
    RestrictedIpAnswer,
    solve_restricted_ip,
)
from slotwise.solver.column_generation.configurations.engine import KIND
from slotwise.solver.column_generation.configurations.exact_tables import (
    ExactTable,
    one_more_node,
    table_steps,
)
from slotwise.solver.column_generation.listed_master import NEG_INF, TypeColumns
from slotwise.solver.column_generation.params import ColumnsParams
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.result import Limits
from slotwise.solver.presolve.leading_terms import without_running
from slotwise.solver.structure.dominance import VectorSet
from slotwise.solver.structure.node_types import Site, sites

TABLES = "exact tables over node configurations"
"""What the bounds are that these tables prove."""


def search_columns(
    model: ColumnModel, best: Incumbent, limits: Limits, params: ColumnsParams, token: RunToken
) -> None:
    """Solve the terms after those that are proven until one is not proven within the limits.

    Parameters
    ----------
    model
        All columns.
    best
        The incumbent; takes placements and bounds that are found.
    limits
        Of this search alone.
    params
        Limits of the restricted integer programs.
    token
        Ends the search by `CancelledError`.
    """
    deadline = token.now() + limits.time_s
    model = fixed(model, best.optima, deadline, token)
    if tables_fit(model, params, token):
        _solve_at_once(model, best, token)
        return
    for index in range(len(best.optima), len(model.terms)):
        earlier = best.optima
        most = limits_of(model, earlier)
        upper = None if best.values is None else best.values[index]
        search = _TermSearch(model, index, most, upper, best, limits, deadline, params, token)
        search.run()
        if search.infeasible and best.values is not None:
            raise InternalError(f"CP-SAT calls term {index} infeasible, which has a placement")
        best.infeasible, best.interrupted = search.infeasible, search.interrupted
        best.by_solver |= search.infeasible
        if search.bound is not None:
            best.prove([*earlier, search.bound], KIND, by_solver=True)
        if search.bound is None or search.value != search.bound or search.interrupted:
            return
        model = fixed(model, best.optima, deadline, token)


def _solve_at_once(model: ColumnModel, best: Incumbent, token: RunToken) -> None:
    """Solve all terms by exact tables."""
    solution = solve_by_tables(model, token)
    if solution is not None:
        best.offer_solution(placement_of(model, solution))
        assert best.values is not None, "it was offered one"
        best.prove(best.values, TABLES)
    elif best.values is None:
        best.infeasible = True
    else:
        raise InternalError("exact tables call infeasible what has a placement")


def _thresholds(dual: DualSolution, nodes: Sequence[int], params: ColumnsParams) -> Iterator[int]:
    """Yield reduced costs that leave more and more columns to choose from, at last all."""
    reduced_costs = np.concatenate(dual.reduced_costs)
    order = np.argsort(reduced_costs, kind="stable")
    weights = np.repeat(nodes, [len(costs) for costs in dual.reduced_costs])
    choices = np.cumsum(weights[order])
    count = params.first_choices
    while True:
        reached = min(int(np.searchsorted(choices, count)), len(order) - 1)
        yield int(reduced_costs[order[reached]])
        count *= params.choice_growth


class _TermSearch:
    """The search for the best solution in one term."""

    def __init__(
        self,
        model: ColumnModel,
        index: int,
        most: Sequence[Limit],
        upper: int | None,
        best: Incumbent,
        limits: Limits,
        deadline: float,
        params: ColumnsParams,
        token: RunToken,
    ) -> None:
        self._model, self._index, self._most = model, index, tuple(most)
        self._best, self._limits, self._deadline = best, limits, deadline
        self._params, self._token = params, token
        self.value = upper
        self.bound: int | None = None
        self.infeasible = False
        self.interrupted = False

    @property
    def _term(self) -> ColumnExpression:
        return self._model.terms[self._index]

    def run(self) -> None:
        """Solve over more and more columns until the solution is proven best, or time is up."""
        effort = self._most, self._deadline, self._token
        if self.value is None and not may_be_feasible(self._model, *effort):
            self.infeasible = True
            return
        dual = solve_relaxation(self._model, self._term, *effort)
        self.bound = max(0, dual.whole_bound)
        nodes = [len(kind.nodes) for kind in self._model.types]
        thresholds = _thresholds(dual, nodes, self._params)
        largest = max(int(costs.max()) for costs in dual.reduced_costs)
        while not self._done():
            threshold = min(next(thresholds), self._gap(dual, largest))
            masks = [costs <= threshold for costs in dual.reduced_costs]
            left = self._deadline - self._token.now()
            choices = sum(n * int(k.sum()) for n, k in zip(nodes, masks, strict=True))
            if left <= 0 or choices > self._params.max_choices:
                return
            answer = self._solve_restricted(masks, left)
            self._take(answer)
            if self._learn(answer, dual, threshold, largest) or not answer.complete:
                return

    def _done(self) -> bool:
        return self.value is not None and self.value == self.bound

    def _gap(self, dual: DualSolution, largest: int) -> int:
        """Return the largest reduced cost of a column in a solution better than the incumbent."""
        if self.value is None:
            return largest
        return min(largest, (self.value - 1) * dual.scale - dual.bound)

    def _solve_restricted(self, masks: list[BoolArray], left: float) -> RestrictedIpAnswer:
        most = self._most
        if self.value is not None:
            most = (*most, (self._term, self.value - 1))
        limits = replace(self._limits, time_s=left)
        bound = self.bound or 0
        return solve_restricted_ip(
            self._model, self._term, most, masks, bound, limits, self._offer, self._token
        )

    def _take(self, answer: RestrictedIpAnswer) -> None:
        self.interrupted |= answer.interrupted
        if answer.solution is None:
            return
        self._offer(answer.solution)
        assert self._best.values is not None, "it was offered one"
        self.value = self._best.values[self._index]

    def _offer(self, solution: ColumnSolution) -> None:
        self._best.offer_solution(placement_of(self._model, solution))

    def _learn(
        self, answer: RestrictedIpAnswer, dual: DualSolution, threshold: int, largest: int
    ) -> bool:
        """Raise the bound by what was proven; return whether the term is settled.

        A solution that uses another column has a reduced cost above the threshold; one of these
        columns costs at least the restricted program's bound, or the value it was asked to beat.
        """
        inside = self.value if answer.complete else answer.bound
        if not answer.complete and inside is not None and self.value is not None:
            inside = min(inside, self.value)
        outside = -(-(dual.bound + threshold + 1) // dual.scale)
        everything = threshold >= self._gap(dual, largest)
        if everything and answer.complete and self.value is None:
            self.bound, self.infeasible = None, True
            return True
        if inside is not None:
            risen = inside if everything else min(inside, outside)
            self.bound = max(self.bound or 0, risen)
        elif answer.complete and not everything:
            self.bound = max(self.bound or 0, outside)
        return self._done() or self.infeasible


# All terms at once for small boxes: the best value of every vector of task counts, rack by rack.
#
# The terms are folded into one whole number, each weighted above all that the later ones can
# reach; these are sums of 64-bit integers, so nothing is lost. A rack is a table over the nodes
# in it (`ExactTable`); pairs of tasks in one rack save the way between racks, so
#
#     G_r(x) = best columns of the nodes of rack r that hold x, and the flow inside x
#     H_r(x) = max over y <= x of H_{r-1}(x - y) + G_r(y)
#
# and H of the last rack at all tasks is the optimum, found without any solver.

MAX_BITS = 58
"""Folded values stay far above `NEG_INF`."""


@dataclass(frozen=True, slots=True, eq=False)
class _Folded:
    """The terms as one value to be maximised: [Y] of each type's columns, and of flow in a rack."""

    columns: tuple[TypeColumns, ...]
    flow_in_rack: int


def solve_by_tables(model: ColumnModel, token: RunToken) -> ColumnSolution | None:
    """Return a solution that is best in all terms, in their order; ``None`` where there is none.

    Only for models that `tables_fit`.
    """
    folded = _folded(model)
    assert folded is not None, "checked by tables_fit"
    total = model.kinds.sizes
    places = _places(model)
    tables = []
    for place in places:
        columns = [folded.columns[t] for t in place.types]
        tables.append(ExactTable(columns, place.sizes, total, token))
    lattice = np.stack(np.unravel_index(np.arange(_box(total)), tuple(total + 1)), axis=1)
    inside = folded.flow_in_rack * model.kinds.pairs(lattice) if folded.flow_in_rack else 0
    values = [_with_flow(table.values(lattice), inside).reshape(total + 1) for table in tables]
    shares = _best_shares(values, lattice, total, token)
    if shares is None:
        return None
    nodes: dict[int, tuple[int, int]] = {}
    for place, table, share in zip(places, tables, shares, strict=True):
        free = [iter(members) for members in place.nodes]
        for index, counts in table.configurations(share):
            t = place.types[index]
            row = np.flatnonzero((model.columns[t].counts == counts).all(axis=1))
            nodes[next(free[index])] = (t, int(row[0]))
    return ColumnSolution(nodes, frozenset())


def tables_fit(model: ColumnModel, params: ColumnsParams, token: RunToken) -> bool:
    """Return whether the tables take all that the model has, and are small enough to be made."""
    if model.moves is not None or model.problem.may_reject or _folded(model) is None:
        return False
    total, places = model.kinds.sizes, _places(model)
    if float(np.prod(total + 1.0)) > params.max_table_cells:
        return False
    box = _box(total)
    cells = box * (model.problem.node_count + 2 * len(places) + len(total))
    columns = [TypeColumns(c.counts, c.counts[:, 0]) for c in model.columns]
    steps = sum(table_steps([columns[t] for t in p.types], p.sizes, total) for p in places)
    steps += box * box * max(len(places) - 2, 0)
    if cells > params.max_table_cells or steps > params.max_table_steps:
        return False
    return token.has_room(8 * cells, f"exact tables of {cells:,} entries")


def _places(model: ColumnModel) -> tuple[Site, ...]:
    by_rack = any(term.inter_rack_cost for term in model.terms)
    return sites(model.problem, model.types, by_rack=by_rack)


def _box(total: IntArray) -> int:
    return int(np.prod(total + 1))


def _folded(model: ColumnModel) -> _Folded | None:
    """Return the terms as one; ``None`` where that does not fit the integers of the tables."""
    flow = int(model.kinds.pairs(model.kinds.sizes))
    weight = 1
    weights: list[int] = []
    for term in reversed(model.terms):
        weights.insert(0, weight)
        least = sum(n * int(v.min()) for n, v in _used(model, term.values))
        most = sum(n * int(v.max()) for n, v in _used(model, term.values))
        weight *= most - least + term.inter_rack_cost * flow + 1
    largest = sum(
        w * (n * int(np.abs(v).max()) + term.inter_rack_cost * flow)
        for w, term in zip(weights, model.terms, strict=True)
        for n, v in _used(model, term.values)
    )
    if max(weight, largest).bit_length() > MAX_BITS:
        return None
    pairs = list(zip(weights, model.terms, strict=True))
    columns = tuple(
        TypeColumns(c.counts, np.asarray(-sum(w * term.values[t] for w, term in pairs)))
        for t, c in enumerate(model.columns)
    )
    return _Folded(columns, sum(w * term.inter_rack_cost for w, term in pairs))


def _used(model: ColumnModel, values: Sequence[IntArray]) -> list[tuple[int, IntArray]]:
    """Return how many nodes each type has, with the values of its columns."""
    return [(len(kind.nodes), v) for kind, v in zip(model.types, values, strict=True)]


def _with_flow(values: IntArray, inside: IntArray | int) -> IntArray:
    return np.where(values > NEG_INF // 2, values + inside, NEG_INF)


def _best_shares(
    values: Sequence[IntArray], lattice: IntArray, total: IntArray, token: RunToken
) -> list[IntArray] | None:
    """Return [K] the tasks of each rack in a best solution; ``None`` where there is none."""
    layers = [values[0]]
    for rack in values[1:-1]:
        flat = rack.ravel()
        reached = flat > NEG_INF // 2
        shares_of_rack = TypeColumns(lattice[reached], flat[reached])
        layers.append(one_more_node(layers[-1], shares_of_rack, token))
    shares: list[IntArray] = []
    left = total
    for rack, before in zip(values[:0:-1], layers[::-1], strict=False):
        fits = lattice[(lattice <= left).all(axis=1)]
        together = rack[tuple(fits.T)] + before[tuple((left - fits).T)]
        best = int(together.argmax())
        if together[best] < NEG_INF // 2:
            return None
        shares.insert(0, fits[best])
        left = left - fits[best]
    if layers[0][tuple(left)] < NEG_INF // 2:
        return None
    return [left, *shares]


# Reduced-cost fixing: the columns that solutions can use which are optimal in the leading terms.
#
# A solution costs at least the bound and the reduced costs of its columns, so where a term's
# optimum is known every column of a solution that reaches it has a reduced cost within the gap.


def limits_of(model: ColumnModel, optima: Sequence[int]) -> list[Limit]:
    """Return the rows that limit a term: the optima of those before it, and the moves."""
    most: list[Limit] = list(zip(model.terms, optima, strict=False))
    if model.moves is not None:
        most.append((model.moves, model.problem.move_limit))
    return most


def fixed(
    model: ColumnModel, optima: Sequence[int], deadline: float, token: RunToken
) -> ColumnModel:
    """Return the model with the columns that solutions with these leading values can use.

    Raises
    ------
    InternalError
        Where a relaxation is above its optimum.
    """
    for index, optimum in enumerate(optima):
        limits = limits_of(model, optima[:index])
        dual = solve_relaxation(model, model.terms[index], limits, deadline, token)
        gap = optimum * dual.scale - dual.bound
        if gap < 0:
            raise InternalError(f"the relaxation of term {index} is above its proven optimum")
        model = model.where([costs <= gap for costs in dual.reduced_costs])
    return model


def usable_contents(
    problem: Problem,
    optima: Sequence[int],
    deadline: float,
    token: RunToken,
    params: ColumnsParams,
) -> Mapping[int, IntArray] | None:
    """Return node -> [Y, K] what it may hold in a placement that reaches `optima`.

    By the leading terms that count no moves, without homes: nodes are of few types there, and their
    columns are soon listed. These terms have the same values and the same optimum there
    (`without_running`; with a limit of moves they need not, and nothing is returned), so whatever
    reaches `optima` uses only columns whose reduced cost fits the gap. ``None`` where that tells
    nothing.

    Raises
    ------
    NotTakenError
        When there are too many columns even so.
    """
    easier = without_running(problem) if problem.counts_moves and optima else None
    if easier is None or problem.move_limit != NO_LIMIT:
        return None
    model = make_column_model(easier.problem, deadline, token, params)
    if not VectorSet.is_codable(model.kinds.sizes):
        return None
    model = fixed(model, optima[: len(easier.problem.terms)], deadline, token)
    return {
        node: columns.counts
        for kind, columns in zip(model.types, model.columns, strict=True)
        for node in kind.nodes
    }
