"""A set of topologies placed so that the fewest running tasks move."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from slotwise.models.instance.instance import Instance, Objective
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.compact.cp_sat.engine import CP_SAT
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.reporter import null_reporter
from slotwise.solver.core.result import Limits
from slotwise.solver.portfolio.run_engine import run_engine


@dataclass(frozen=True, slots=True)
class Moves:
    """How many running tasks move, and a proven bound; ``None`` = no bound."""

    tasks: int
    bound: int | None


@dataclass(frozen=True, slots=True)
class Moved:
    """A placement with its moves; `interrupted` says whether Ctrl-C ended the search."""

    moves: Moves
    placement: Placement
    interrupted: bool


def fewest_moves(
    instance: Instance,
    placement: Placement,
    left_out: Collection[int],
    limits: Limits,
    token: RunToken,
) -> Moved | None:
    """Return a placement of all topologies but `left_out` that moves few of their running tasks.

    Parameters
    ----------
    instance
        What runs is in it.
    placement
        A valid one, to start from.
    left_out
        Topologies without a place; they are not counted.
    limits, token
        When to stop.

    Returns
    -------
    Moved | None
        ``None`` where no task of these topologies runs.
    """
    placed = [one for t, one in enumerate(instance.topologies) if t not in left_out]
    ids = {one.id for one in placed}
    running = {t: places for t, places in (instance.running or {}).items() if t in ids and places}
    if not running:
        return None
    tasks = [i for i, (topology, _) in enumerate(instance.task_names()) if topology in ids]
    part = replace(
        instance,
        topologies=tuple(placed),
        running=running,
        objective=Objective(("moved",), instance.objective.soft),
        linear=(),
    )
    hint = Placement(
        tuple(placement.nodes[i] for i in tasks), tuple(placement.workers[i] for i in tasks)
    )
    problem = compile_problem(part)
    try:
        reporter = null_reporter(problem, CP_SAT.name, token)
        outcome = run_engine(CP_SAT, problem, limits, hint, reporter)
    except NotTakenError:
        return Moved(Moves(judge(problem, hint).scaled[0], None), placement, interrupted=False)
    found = outcome.placement
    if found is None or outcome.values is None:
        return None
    nodes, workers = ([UNPLACED] * len(placement.nodes) for _ in range(2))
    for i, node, worker in zip(tasks, found.nodes, found.workers, strict=True):
        nodes[i], workers[i] = node, worker
    moves = Moves(outcome.values[0], outcome.bounds[0])
    return Moved(moves, Placement(tuple(nodes), tuple(workers)), outcome.interrupted)
