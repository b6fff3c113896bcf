"""The best plan of some of a model's columns, by CP-SAT.

The relaxation's prices say which columns a good plan can use; how often each is used is an integer
program with a row per kind and node type, whose limits are rows too. Where racks matter, pairs in
a rack are products of the counts there, order-encoded as in the compact model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from slotwise.models.errors import InternalError
from slotwise.models.problem import BoolArray, Problem
from slotwise.solver.column_model import ColumnModel, Sum, Used
from slotwise.solver.column_prices import Limit
from slotwise.solver.cp_counts import Count
from slotwise.solver.cp_network import product
from slotwise.solver.cp_sat import proven_bound
from slotwise.solver.interruptible import run_interruptible
from slotwise.solver.kinds import Kinds
from slotwise.solver.result import Limits
from slotwise.solver.stars import cover


@dataclass(frozen=True, slots=True)
class Closing:
    """What the integer program found.

    Parameters
    ----------
    used
        The best plan; ``None`` when none was found.
    bound
        No plan of these columns costs less; ``None`` when nothing is proven.
    complete
        Whether `used` is proven best, or, without a plan, that there is none.
    interrupted
        Whether Ctrl-C ended it.
    """

    used: Used | None
    bound: int | None
    complete: bool
    interrupted: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Site:
    """Equal nodes of one rack (of any rack where that makes no difference)."""

    type: int
    rack: int
    nodes: tuple[int, ...]
    rows: list[int]
    used: list[cp_model.IntVar]


def close(
    model: ColumnModel,
    term: Sum,
    limits: Sequence[Limit],
    kept: Sequence[BoolArray],
    search: Limits,
) -> Closing:
    """Minimise a term over the plans of the columns `kept` (per type) within the limits."""
    cp = cp_model.CpModel()
    apart = any(s.apart for s in (term, *(limit for limit, _ in limits)))
    sites = _sites(cp, model, kept, by_rack=apart)
    left_out = [
        cp.new_bool_var(f"left_out_{t}") if rules.classes and model.problem.may_reject else 0
        for t, rules in enumerate(model.problem.rules)
    ]
    _place_every_task(cp, model, sites, left_out)
    far = _far_pairs(cp, model, sites, left_out) if apart else 0
    for limit, most in limits:
        cp.add(_expression(limit, sites, left_out, far) <= most)
    cp.minimize(_expression(term, sites, left_out, far))
    return _solve(cp, sites, left_out, search)


def _sites(
    cp: cp_model.CpModel, model: ColumnModel, kept: Sequence[BoolArray], *, by_rack: bool
) -> list[_Site]:
    rack_of = model.problem.node_rack
    found = []
    for t, kind in enumerate(model.types):
        rows = np.flatnonzero(kept[t]).tolist()
        for rack in range(len(model.problem.racks)) if by_rack else (0,):
            nodes = tuple(n for n in kind.nodes if not by_rack or rack_of[n] == rack)
            if nodes:
                used = [_used(cp, model, t, row, len(nodes)) for row in rows]
                cp.add(sum(used) == len(nodes))
                found.append(_Site(t, rack, nodes, rows, used))
    return found


def _used(
    cp: cp_model.CpModel, model: ColumnModel, t: int, row: int, nodes: int
) -> cp_model.IntVar:
    counts = model.columns[t].counts[row]
    held = np.flatnonzero(counts)
    most = min([nodes, *(model.kinds.sizes[held] // counts[held]).tolist()])
    return cp.new_int_var(0, int(most), f"used_{t}_{row}")


def _count(model: ColumnModel, sites: Sequence[_Site], kind: int) -> Count:
    """Return the tasks of a kind in these sites."""
    return sum(
        int(model.columns[s.type].counts[row, kind]) * used
        for s in sites
        for row, used in zip(s.rows, s.used, strict=True)
        if model.columns[s.type].counts[row, kind]
    )


def _place_every_task(
    cp: cp_model.CpModel, model: ColumnModel, sites: Sequence[_Site], left_out: Sequence[Count]
) -> None:
    for k, size in enumerate(model.kinds.sizes.tolist()):
        skipped = left_out[int(model.kinds.topology[k])]
        cp.add(_count(model, sites, k) + size * skipped == size)


def _far_pairs(
    cp: cp_model.CpModel, model: ColumnModel, sites: Sequence[_Site], left_out: Sequence[Count]
) -> Count:
    """Return the flow between racks, or more."""
    kinds = model.kinds
    flows = _flows(kinds)
    far: Count = 0
    for t in range(len(model.problem.rules)):
        own = {pair: w for pair, w in flows.items() if kinds.topology[pair[0]] == t}
        all_pairs = sum(w * int(kinds.sizes[a] * kinds.sizes[b]) for (a, b), w in own.items())
        far += all_pairs * (1 - left_out[t])
        stars = cover(own, tuple(kinds.sizes.tolist()))
        for rack in range(len(model.problem.racks)):
            inside = [s for s in sites if s.rack == rack]
            place = {k: _rack_count(cp, model, inside, k) for k in {k for p in own for k in p}}
            for center, leaves in stars.items():
                far -= product(cp, place, center, leaves)
    return far


def _flows(kinds: Kinds) -> dict[tuple[int, int], int]:
    pairs = np.argwhere(np.triu(kinds.flow)).tolist()
    return {(a, b): int(kinds.flow[a, b]) for a, b in pairs}


def _rack_count(
    cp: cp_model.CpModel, model: ColumnModel, sites: Sequence[_Site], kind: int
) -> tuple[Count, int]:
    size = int(model.kinds.sizes[kind])
    count = cp.new_int_var(0, size, f"in_rack_{kind}")
    cp.add(count == _count(model, sites, kind))
    return count, size


def _expression(of: Sum, sites: Sequence[_Site], left_out: Sequence[Count], far: Count) -> Count:
    found: Count = of.constant + of.apart * far
    for site in sites:
        values = of.values[site.type]
        found += sum(
            int(values[row]) * used
            for row, used in zip(site.rows, site.used, strict=True)
            if values[row]
        )
    return found + sum(int(c) * skipped for c, skipped in zip(of.left_out, left_out, strict=True))


def _solve(
    cp: cp_model.CpModel, sites: Sequence[_Site], left_out: Sequence[Count], search: Limits
) -> Closing:
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(search.time_s, 0.0)
    solver.parameters.num_workers = search.workers
    solver.parameters.random_seed = search.seed
    solver.parameters.catch_sigint_signal = False
    statuses: list[cp_model.CpSolverStatus] = []
    interrupted = run_interruptible(lambda: statuses.append(solver.solve(cp)), solver.stop_search)
    status = statuses[0]
    if status == cp_model.INFEASIBLE:
        return Closing(None, None, complete=True, interrupted=interrupted)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
        raise InternalError(f"CP-SAT answered {solver.status_name(status)}")
    bound = proven_bound(cp, solver, status)
    if status == cp_model.UNKNOWN:
        return Closing(None, bound, complete=False, interrupted=interrupted)
    nodes: dict[int, tuple[int, int]] = {}
    for site in sites:
        free = iter(site.nodes)
        for row, used in zip(site.rows, site.used, strict=True):
            nodes |= {next(free): (site.type, row) for _ in range(solver.value(used))}
    skipped = frozenset(t for t, out in enumerate(left_out) if solver.value(out))
    return Closing(
        Used(nodes, skipped), bound, complete=status == cp_model.OPTIMAL, interrupted=interrupted
    )
