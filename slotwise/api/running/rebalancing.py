"""Rebalancing what runs: which few tasks to move, in which order, and what that saves."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Unpack

from slotwise.api.inputs import (
    NEEDS_RUNNING,
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_instance,
    compiled_as,
    warn_of_lost_nodes,
)
from slotwise.api.placing import as_method
from slotwise.api.running.given_running import as_running_places
from slotwise.api.running.orphans import FirstPlaces, first_places, least_limit, orphans_of
from slotwise.api.running.rebalanced import Rebalanced
from slotwise.heuristics.method import Method
from slotwise.heuristics.run import run_method
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import without_nodes as without
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import running_placement
from slotwise.models.values import time_limit, whole
from slotwise.solver.core.memory import default_limit_mb
from slotwise.solver.core.result import Limits
from slotwise.solver.rebalance.front import Front, front
from slotwise.solver.rebalance.limited import with_limit
from slotwise.solver.rebalance.plan import make_plan
from slotwise.solver.structure.matching import kept_running

OPTIMAL = "optimal"
"""The method that finds the best placement for each number of moves."""
DEFAULT_MAX_MOVES = 10
"""The last point of the front where no limit is given."""
ORDER_S = 20.0
"""Seconds that the search for an order of the moves may take."""


def rebalance(
    instance: InstanceLike,
    placement: PlacementLike | None = None,
    *,
    method: str | Method = "optimal",
    max_moves: int | None = None,
    parking: int = 0,
    without_nodes: Collection[str] = (),
    on_first: Callable[[FirstPlaces], object] = lambda first: None,
    time_limit_s: float = 60.0,
    workers: int = 1,
    seed: int = 0,
    memory_limit_mb: int | None = None,
    **decoded: Unpack[DecodedCluster],
) -> Rebalanced:
    """Say which tasks to move from where they run now, in which order, and what that saves.

    Parameters
    ----------
    instance
        What runs: an `Instance`, a compiled problem, a path, a dict or text; see `read_instance`.
    placement
        Where the tasks run now, as in `read_placement`; ``None`` = as the instance's `running`
        says. It may be of a cluster with more nodes: tasks on those that are gone are orphans,
        and a `UserWarning` names the nodes.
    method
        ``optimal``: the best cost with at most 0, 1, 2, ... moves, each proven or bounded, and the
        moves of the last. Otherwise a method, such as ``stromax-reassign``, which moves running
        tasks, or ``r-storm``, which places afresh; equal things are exchanged so that few move.
    max_moves
        Most tasks that may move, 0 or more; ``None`` = `DEFAULT_MAX_MOVES` for ``optimal``, any
        number for a method.
    parking
        So many tasks may wait elsewhere for a while, in each part of the moves that shares no node
        with the others, where there is no order without; these moves are on top of `max_moves`.
    without_nodes
        Ids of machines that died: the cluster has them no more, and the tasks that ran there are
        orphans. They do not count as moved.
    on_first
        Called at once with places of the orphans, where there are any; for ``optimal`` the search
        for better ones follows.
    time_limit_s, workers, seed, memory_limit_mb
        As in `solve`; the time is that of the whole front.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, or where nothing says what runs now.
    MethodError
        When the method breaks down.

    Examples
    --------
    >>> import slotwise
    >>> done = slotwise.rebalance("docs/examples/running.json", max_moves=3)
    >>> [int(point.verdict.objective[1].value) for point in done.front.points]
    [38, 35, 32, 25]
    >>> [move.saves["network"] > 0 for move in done.plan.moves]
    [True, True, True]
    """
    started = time.perf_counter()
    limits = Limits(
        time_s=time_limit(time_limit_s, "time_limit_s"),
        workers=whole(workers, "workers", least=1),
        seed=whole(seed, "seed"),
        memory_mb=default_limit_mb()
        if memory_limit_mb is None
        else whole(memory_limit_mb, "memory_limit_mb", least=1),
    )
    most = None if max_moves is None else whole(max_moves, "max_moves")
    spare = whole(parking, "parking")
    given = as_instance(instance, **decoded)
    running = _with_running(given, placement)
    compiled_as(instance if running is given else running, running)  # says which file is wrong
    if running is not given:
        warn_of_lost_nodes(running, without_nodes)
    if without_nodes:
        running = without(running, without_nodes)
    base = with_limit(running, None)
    now = running_placement(base)
    assert now is not None, "it has running"
    orphans = orphans_of(running)
    if orphans:
        on_first(first_places(running, most))
    if method == OPTIMAL:
        found = front(running, DEFAULT_MAX_MOVES if most is None else most, limits)
        name, target, refused = OPTIMAL, _best(found), None
    else:
        chosen, found = as_method(method), None
        answer = run_method(with_limit(running, least_limit(running, most)), chosen, limits.seed)
        name = chosen.name
        refused = answer.reason if isinstance(answer, Refusal) else None
        target = None if isinstance(answer, Refusal) else kept_running(base, answer)
    plan = None
    if target is not None:
        token = CancellationToken(time.perf_counter() + ORDER_S)
        plan = make_plan(base, now, target, token, spare)
    seconds = time.perf_counter() - started
    verdict = judge(base, now)
    limit = least_limit(running, most)
    return Rebalanced(given, name, verdict, plan, found, limit, refused, seconds, orphans)


def _with_running(given: Instance, placement: PlacementLike | None) -> Instance:
    if placement is not None:
        return replace(given, running=as_running_places(placement, given))
    if given.running is None:
        raise InputError(f"{NEEDS_RUNNING}, or a placement", field="instance", has_value=False)
    return given


def _best(found: Front) -> Placement | None:
    return found.points[-1].placement
