"""Where the costs of two placements differ, and the few moves that explain most of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from slotwise.models.explanation.alternatives import moved
from slotwise.models.explanation.cost_split import CostSplit, split_cost
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement, tasks_by_worker, to_places
from slotwise.models.judge.judge import judge
from slotwise.models.judge.moves import TaskMove, task_move, task_moves
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain
from slotwise.solver.core.result import Status
from slotwise.solver.solve import solve
from slotwise.solver.structure.matching import matched


@dataclass(frozen=True, slots=True)
class StreamDifference:
    """The network cost of one pair of components in either placement."""

    topology: str
    source: str
    target: str
    first: Fraction
    second: Fraction

    @property
    def change(self) -> Fraction:
        """The second less the first."""
        return self.second - self.first


@dataclass(frozen=True, slots=True)
class NodeDifference:
    """A node that holds other tasks in the second placement.

    Parameters
    ----------
    node, stands_for
        The node of the first placement; the matching node of the second, if it is another one.
    gains, losses
        Component (``topology/component``) -> tasks more or fewer in the second.
    first, second
        Network cost of its tasks; half of each pair's cost counts at either end.
    """

    node: str
    stands_for: str
    gains: dict[str, int]
    losses: dict[str, int]
    first: Fraction
    second: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Two placements of one instance.

    Parameters
    ----------
    first, second
        Their costs in detail.
    exchanged
        The second placement after exchanging equal things; its cost is the same.
    streams
        Those whose cost differs, by the size of the difference.
    nodes
        Those whose tasks differ.
    moves
        The fewest moves of tasks from the first to the second; exchanges of equal things do not
        count.
    steps
        The moves that explain most, chosen greedily: each lowers the objective most.
    from_second
        Whether the steps lead from the second placement to the first, which is cheaper.
    renamed
        Node of the second placement -> equal node of the first that it is compared with.
    """

    first: CostSplit
    second: CostSplit
    exchanged: Placement
    streams: tuple[StreamDifference, ...]
    nodes: tuple[NodeDifference, ...]
    moves: tuple[TaskMove, ...]
    steps: tuple[Step, ...]
    from_second: bool
    renamed: dict[str, str]

    @property
    def terms(self) -> tuple[tuple[str, Fraction, Fraction], ...]:
        """Term, value in the first, value in the second."""
        pairs = zip(self.first.verdict.objective, self.second.verdict.objective, strict=True)
        return tuple((one.term, one.value, other.value) for one, other in pairs)

    def to_document(self) -> dict[str, Any]:
        """Return the comparison as JSON-ready data."""
        return {
            "terms": [
                {"term": term, "first": plain(first), "second": plain(second)}
                for term, first, second in self.terms
            ],
            "streams": [
                {
                    "topology": stream.topology,
                    "from": stream.source,
                    "to": stream.target,
                    "first": plain(stream.first),
                    "second": plain(stream.second),
                }
                for stream in self.streams
            ],
            "nodes": [
                {
                    "node": node.node,
                    "in_second": node.stands_for,
                    "gains": node.gains,
                    "losses": node.losses,
                    "network_first": plain(node.first),
                    "network_second": plain(node.second),
                }
                for node in self.nodes
            ],
            "moves": [move.to_document() for move in self.moves],
            "steps_from": "second" if self.from_second else "first",
            "steps": [
                step.move.to_document()
                | {"objective": {term: plain(value) for term, value in step.objective.items()}}
                for step in self.steps
            ],
            "renamed": self.renamed,
        }


def compare(problem: Problem, first: Placement, second: Placement) -> Comparison:
    """Return where `second` differs from `first`; raises `InputError` as `judge` does."""
    first_split, second_split = split_cost(problem, first), split_cost(problem, second)
    match = matched(problem, first, second)
    moves = task_moves(problem, first, match.placement)
    from_second = second_split.verdict.scaled > first_split.verdict.scaled
    start, end = (match.placement, first) if from_second else (first, match.placement)
    ids = [node.id for node in problem.instance.cluster.nodes]
    return Comparison(
        first=first_split,
        second=second_split,
        exchanged=match.placement,
        streams=_streams(first_split, second_split),
        nodes=_nodes(
            problem, first, match.placement, first_split, {n: m for m, n in match.nodes.items()}
        ),
        moves=moves,
        steps=decisive_steps(problem, start, end, [move.task for move in moves]),
        from_second=from_second,
        renamed={ids[old]: ids[new] for old, new in sorted(match.nodes.items())},
    )


def _streams(first: CostSplit, second: CostSplit) -> tuple[StreamDifference, ...]:
    before = {(s.topology, s.source, s.target): s.total for s in first.streams}
    after = {(s.topology, s.source, s.target): s.total for s in second.streams}
    differences = [
        StreamDifference(*key, before[key], after[key])
        for key in before
        if before[key] != after[key]
    ]
    return tuple(sorted(differences, key=lambda stream: -abs(stream.change)))


def _nodes(
    problem: Problem,
    first: Placement,
    second: Placement,
    first_split: CostSplit,
    stands_for: dict[int, int],
) -> tuple[NodeDifference, ...]:
    before, after = _components(problem, first), _components(problem, second)
    paid = split_cost(problem, second).node_network
    ids = [node.id for node in problem.instance.cluster.nodes]
    return tuple(
        NodeDifference(
            node=ids[n],
            stands_for=ids[stands_for.get(n, n)],
            gains=dict(after[n] - before[n]),
            losses=dict(before[n] - after[n]),
            first=first_split.node_network.get(ids[n], Fraction(0)),
            second=paid.get(ids[n], Fraction(0)),
        )
        for n in range(problem.node_count)
        if before[n] != after[n]
    )


def _components(problem: Problem, placement: Placement) -> list[Counter[str]]:
    """Return the number of tasks of each component on each node."""
    components: list[Counter[str]] = [Counter() for _ in range(problem.node_count)]
    for c, node in zip(problem.task_class.tolist(), placement.nodes, strict=True):
        if node != UNPLACED:
            topology, component = problem.components[problem.classes[c].component]
            components[node][f"{problem.rules[topology].id}/{component}"] += 1
    return components


# Moves from one placement to another, and those among them that change the cost most.

MOST_STEPS = 5
"""Most moves chosen to explain the difference."""

MOST_TRIED = 60
"""Most moves tried for each choice; placements further apart are not explained in full."""


@dataclass(frozen=True, slots=True)
class Step:
    """A move on the way from the dearer placement to the cheaper one.

    Parameters
    ----------
    move
        The move, from the dearer placement to the cheaper one.
    objective
        Term -> value after it and all steps before it.
    broken
        Rules that are broken after it.
    """

    move: TaskMove
    objective: dict[str, Fraction]
    broken: tuple[Violation, ...] = ()


def decisive_steps(
    problem: Problem, start: Placement, end: Placement, tasks: list[int]
) -> tuple[Step, ...]:
    """Return the moves that lower the objective most, one after another."""
    current, remaining = start, tasks[:MOST_TRIED]
    value, goal = judge(problem, current).scaled, judge(problem, end).scaled
    steps: list[Step] = []
    while remaining and value > goal and len(steps) < MOST_STEPS:
        tried = {
            task: moved(current, task, end.nodes[task], end.workers[task]) for task in remaining
        }
        verdicts = {task: judge(problem, placement) for task, placement in tried.items()}
        best = min(remaining, key=lambda task: verdicts[task].scaled)
        if verdicts[best].scaled >= value:
            break
        current, value = tried[best], verdicts[best].scaled
        remaining.remove(best)
        objective = {term.term: term.value for term in verdicts[best].objective}
        broken = verdicts[best].violations
        steps.append(Step(task_move(problem, start, end, best), objective, tuple(broken)))
    return tuple(steps)


# The valid placement nearest to an invalid or partial one: the fewest tasks that must move.


@dataclass(frozen=True, slots=True)
class FewestMoves:
    """A valid placement near another one.

    Parameters
    ----------
    status
        ``optimal``: no valid placement is nearer. ``feasible``: whether one is was not settled.
        ``infeasible``: there is none at all.
    placement
        The nearest that was found; ``None`` without one.
    moved, placed
        Indices of the tasks that it moves, and of those that had no place.
    interrupted
        Whether Ctrl-C ended the search.
    """

    status: Status
    placement: Placement | None
    moved: tuple[int, ...] = ()
    placed: tuple[int, ...] = ()
    interrupted: bool = False

    @property
    def left_out(self) -> tuple[int, ...]:
        """Those of `moved` that have no place in it: their topologies are left out."""
        if self.placement is None:
            return ()
        nodes = self.placement.nodes
        return tuple(task for task in self.moved if nodes[task] == UNPLACED)


def fewest_moves(
    instance: Instance,
    placement: Placement,
    *,
    time_limit_s: float,
    seed: int = 0,
    workers: int = 1,
) -> FewestMoves | None:
    """Return the valid placement that differs from `placement` in the fewest tasks.

    ``None`` where the instance limits moves of running tasks: the rule would be needed twice.
    """
    if instance.objective.limits:
        return None
    terms = ("moved", "rejected") if "rejected" in instance.objective.parts else ("moved",)
    stays = _may_stay(instance, placement)
    nearest = replace(
        instance,
        running=to_places(instance, stays),
        objective=replace(instance.objective, terms=terms, limits={}),
        linear=(),
    )
    result = solve(nearest, time_limit_s=time_limit_s, seed=seed, workers=workers)
    if result.placement is None:
        return FewestMoves(result.status, None, interrupted=result.interrupted)
    before = zip(placement.nodes, placement.workers, strict=True)
    after = zip(result.placement.nodes, result.placement.workers, strict=True)
    changed = [
        (task, old) for task, (old, new) in enumerate(zip(before, after, strict=True)) if old != new
    ]
    moved_tasks = tuple(task for task, (node, _) in changed if node != UNPLACED)
    leaving = stays.nodes.count(UNPLACED) - placement.nodes.count(UNPLACED)
    # Where others than those leave as well, it may be better that another topology stays.
    is_proven = not leaving or len(moved_tasks) == leaving
    return FewestMoves(
        status=result.status if is_proven else Status.FEASIBLE,
        placement=result.placement,
        moved=moved_tasks,
        placed=tuple(task for task, (node, _) in changed if node == UNPLACED),
        interrupted=result.interrupted,
    )


def _may_stay(instance: Instance, placement: Placement) -> Placement:
    """Return the placement without the tasks that leave a worker of several topologies.

    The topology with the most tasks in it stays.
    """
    there = tasks_by_worker(instance, placement)
    by_count = sorted(there, key=lambda key: len(there[key]))
    stays = {(node, worker): topology for topology, node, worker in by_count}
    nodes, workers = list(placement.nodes), list(placement.workers)
    for task, (topology, _) in enumerate(instance.task_names()):
        if nodes[task] != UNPLACED and stays[nodes[task], workers[task]] != topology:
            nodes[task] = workers[task] = UNPLACED
    return Placement(tuple(nodes), tuple(workers))
