"""Topologies scheduled one after another, each on the capacity left by the earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count, islice, zip_longest

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method
from slotwise.heuristics.partial_placement import Ledger
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.problem.problem import Problem


def place_one_by_one(
    problem: Problem,
    hard: Collection[int],
    place: Callable[[Ledger, int], str | None],
    *,
    order: Iterable[int] | None = None,
    failed_consume: bool = False,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return the placement of the topologies by `place`, one after another.

    Parameters
    ----------
    hard
        Dimensions that are never exceeded.
    place
        (ledger, topology) -> ``None`` when all its tasks are in the ledger, or why it cannot be
        placed. Such a topology is left out whole where the objective counts ``rejected``; else
        the reason becomes that of the refusal.
    order
        Of the topologies; ``None`` = the instance's.
    failed_consume
        Whether tasks of a topology that is left out still count on the nodes where they were put.
    log
        Where to note what is placed and taken out; ``None`` = nowhere.
    """
    ledger = Ledger(problem, hard, log)
    for t in range(len(problem.rules)) if order is None else order:
        reason = place(ledger, t)
        if reason is not None and not problem.may_reject:
            return Refusal(f"topology {problem.rules[t].id}: {reason}")
        if reason is None:
            continue
        if failed_consume:
            ledger.take_out(t)
        else:
            ledger = ledger.without(t)
    return ledger.placement()


def one_of_each_in_turn(queues: Iterable[Iterable[int]]) -> list[int]:
    """Return the tasks: one of each queue in turn, until all are taken."""
    rounds = zip_longest(*queues)
    return [task for taken in rounds for task in taken if task is not None]


def no_room(problem: Problem, task: int) -> str:
    """Return the reason for leaving out a topology with a task that fits nowhere."""
    return f"no node has room for task {problem.instance.task_names()[task][1]}"


def hard_with_memory(problem: Problem) -> set[int]:
    """Return the hard dimensions and memory, which R-Storm never exceeds."""
    hard = {d for d, is_hard in enumerate(problem.hard.tolist()) if is_hard}
    return hard if problem.memory is None else hard | {problem.memory}


# Storm's even scheduler: deals executors in turn over slots that are interleaved over nodes.
#
# Read from Apache Storm's ``org.apache.storm.scheduler.EvenScheduler`` (commit 1d275484), with
# ``ServerUtils.interleaveAll`` and ``StormCommon.stormTaskInfo``. R-Storm (section 2) calls it
# the default scheduler and round robin. Its oddities are kept:
#
# - Resources are never looked at: memory, heap, isolation and every other rule may be broken.
# - Nodes are sorted by their number of free slots, the most first, then by id; each round takes one
#   slot of every node that has one left. A node with many slots comes first however small it is.
# - The number of slots is min(``workers``, free slots): fewer slots than requested are not an
#   error.
# - Executors are sorted by task number, and Storm numbers tasks by component id in code point order
#   (``__acker`` stands before lower case names), not in the order of the topology. So neighbours in
#   the dealing are tasks of one component.
# - Topologies are scheduled one after another in the instance's order; each uses the slots left.
#
# Where Storm has no answer, or ours differs:
#
# - ``workers`` absent: one worker on each node with a free slot (Storm's own default is 1).
# - ``slots`` absent: as many slots as are asked for, and the node sorts before every limited one.
# - No free slot for a topology with tasks: Storm logs an error and leaves it unassigned. It is left
#   unplaced where the objective counts ``rejected``; else the method refuses and names it.
# - Everything is scheduled afresh: ``running`` is not read.

Slot = tuple[int, int]
"""Node index and worker label."""


def place(problem: Problem, rng: Generator, log: DecisionLog | None = None) -> Placement | Refusal:
    """Return Storm's even schedule of all topologies; nothing in it is random."""
    nodes = [UNPLACED] * problem.task_count
    labels = [UNPLACED] * problem.task_count
    used = [0] * problem.node_count
    for t, rules in enumerate(problem.rules):
        tasks = executors(problem, t)
        if not tasks:
            continue
        slots = slots_to_use(problem, used, problem.instance.topologies[t].workers)
        if not slots and not problem.may_reject:
            return Refusal(f"no slot is left for topology {rules.id}")
        if not slots:
            continue
        for i, task in enumerate(tasks):
            nodes[task], labels[task] = slots[i % len(slots)]
            if log is not None:
                log.put(task, nodes[task], labels[task])
        for node, _ in slots[: len(tasks)]:
            used[node] += 1
    return Placement(tuple(nodes), tuple(labels))


def executors(problem: Problem, topology: int) -> list[int]:
    """Return the tasks of `topology` by Storm's task number: component id, then index."""
    tasks = [
        (problem.components[problem.classes[c].component][1], task)
        for c in problem.rules[topology].classes
        for task in problem.classes[c].tasks
    ]
    return [task for _, task in sorted(tasks)]


def slots_to_use(problem: Problem, used: list[int], workers: int | None) -> list[Slot]:
    """Return the first min(`workers`, free) of the sorted slots."""
    free = [slots - taken for slots, taken in zip(problem.slots.tolist(), used, strict=True)]
    count = sum(slots > 0 for slots in free) if workers is None else workers
    return list(islice(sort_slots(problem, free, used), min(count, sum(free))))


def sort_slots(problem: Problem, free: list[int], used: list[int]) -> Iterator[Slot]:
    """Yield the free slots: a slot of each node in turn, nodes with most free slots first."""
    ids = [node.id for node in problem.instance.cluster.nodes]
    order = sorted(range(problem.node_count), key=lambda node: (-free[node], ids[node]))
    for turn in count():
        left = [node for node in order if free[node] > turn]
        if not left:
            return
        yield from ((node, used[node] + turn) for node in left)


ROUND_ROBIN = Method(
    draws=False,
    name="round-robin",
    source="Apache Storm, org.apache.storm.scheduler.EvenScheduler",
    place=place,
    place_logged=place,
    description=(
        "Storm's even scheduler: deals executors in turn over slots of all nodes and ignores "
        "resources; the R-Storm article calls it default Storm."
    ),
)
