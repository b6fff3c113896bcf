"""A placement with equal things exchanged so that as many tasks as possible stay where they run."""

from __future__ import annotations

from dataclasses import replace

from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.structure.matching import MOST_PAIRS, matched
from slotwise.solver.structure.task_types import merge_twins


def kept_running(problem: Problem, placement: Placement) -> Placement:
    """Return `placement` with equal tasks, workers, nodes and racks exchanged for fewest moves.

    Engines name equal things as they please where moves are no term. No part of the objective but
    ``moved`` changes, nor any rule but the limit of moves. Without `running` it is returned as it
    is; among more equal nodes than `MOST_PAIRS` allows, none are exchanged.
    """
    running = running_placement(problem)
    if running is None:
        return placement
    homeless = without_homes(problem)
    kinds = merge_twins(homeless, CancellationToken()).members
    return matched(homeless, running, placement, kinds, MOST_PAIRS).placement


def without_homes(problem: Problem) -> Problem:
    """Return the problem with its tasks nowhere at home, and no limit of moves."""
    classes = tuple(replace(one, home=None) for one in problem.classes)
    return replace(problem, classes=classes, move_limit=NO_LIMIT)
