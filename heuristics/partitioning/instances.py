"""The partitioners as methods on instances: tasks are the vertices, nodes the parts.

A node is a part as large as its capacity (`task_graph`). Hard rules of the instance leave a node
out like a full one; what a partitioner of the whole graph puts where it does not fit goes to the
node with room that it exchanges most with. A topology with a task that fits nowhere is left out
whole where the objective counts ``rejected``; otherwise the method refuses. Ignores ``running``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method, never_stopped
from slotwise.heuristics.partitioning.partition import Parts
from slotwise.heuristics.partitioning.partitioners import PARTITIONERS, read_passes, rule_of
from slotwise.heuristics.partitioning.streaming import PASSES, restreaming
from slotwise.heuristics.partitioning.task_graph import task_graph
from slotwise.heuristics.partitioning.task_pass import (
    Order,
    Pass,
    by_hash,
    by_score,
    last_pass,
    streamed,
)
from slotwise.models.cancellation import CancellationToken
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import Problem


def whole(
    problem: Problem,
    rng: Generator,
    token: CancellationToken,
    name: str,
    log: DecisionLog | None = None,
) -> Placement | Refusal:
    """Return what a partitioner of the whole graph makes of a problem."""
    graph = task_graph(problem)
    now = Pass(graph, token, log)
    used = np.flatnonzero(graph.capacities > 0)
    if not len(used) or not graph.weights.sum():
        return last_pass(now, lambda task: iter(range(problem.node_count)))
    capacities = graph.capacities[used]
    balance = max(1.0, float(capacities.sum() / graph.weights.sum()))
    parts = Parts(capacities / capacities.sum(), balance)
    found = used[PARTITIONERS[name].run(graph.whole(), parts, rng, token).part].tolist()
    for task, node in enumerate(found):
        now.moved(task, node)

    def order(task: int) -> Iterator[int]:
        yield found[task]
        yield from np.lexsort((now.load, -now.gains(task))).tolist()

    return last_pass(now, order)


def _stream_method(name: str, order: Order, passes: int = 1) -> Method:
    repeats = name.endswith("-re")
    one = restreaming(rule_of(name), passes) if repeats else PARTITIONERS[name]

    def configured(given: Mapping[str, tuple[str, ...]]) -> Method:
        return _stream_method(name, order, read_passes(name, given))

    def place_until(
        problem: Problem, rng: Generator, token: CancellationToken
    ) -> Placement | Refusal:
        return streamed(problem, rng, token, order, passes)

    other = repeats and passes != PASSES
    return Method(
        name=f"{name}:passes={passes}" if other else name,
        source=one.source,
        place=never_stopped(place_until),
        place_until=place_until,
        place_logged=lambda problem, rng, log: streamed(
            problem, rng, CancellationToken(), order, passes, log
        ),
        description=one.description,
        parameters={"passes": str(passes)} if repeats else {},
        configure=configured if repeats else None,
    )


def _whole_method(name: str) -> Method:
    one = PARTITIONERS[name]

    def place_until(
        problem: Problem, rng: Generator, token: CancellationToken
    ) -> Placement | Refusal:
        return whole(problem, rng, token, name)

    return Method(
        name=name,
        source=one.source,
        place=never_stopped(place_until),
        place_until=place_until,
        place_logged=lambda problem, rng, log: whole(problem, rng, CancellationToken(), name, log),
        supports=lambda problem: one.missing(),
        description=one.description,
    )


PARTITIONING_METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        _stream_method("hash", by_hash),
        _stream_method("ldg", by_score("ldg")),
        _stream_method("fennel", by_score("fennel")),
        _stream_method("ldg-re", by_score("ldg"), PASSES),
        _stream_method("fennel-re", by_score("fennel"), PASSES),
        _whole_method("metis"),
        _whole_method("kahip"),
    )
}
