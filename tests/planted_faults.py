"""A correct scheduler, and ten with a planted fault each; the fault and nothing else is wrong.

As a program (``python planted_faults.py NAME``): an instance on stdin, a placement on stdout.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

import networkx as nx

from slotwise.models.formats.placement_file import placement_document
from slotwise.models.instance.cluster import Node
from slotwise.models.instance.instance import Instance, LinearCost, Objective
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.instance_file import instance_from_text
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.core.result import Limits
from slotwise.solver.exhaustive import EXHAUSTIVE

Answer = Placement | Refusal


def exact(instance: Instance) -> Answer:
    """Return a best placement: every check holds."""
    found = EXHAUSTIVE.run(compile_problem(instance), Limits(time_s=20), None)
    return found.placement or Refusal("no placement keeps all rules")


def moves_least(instance: Instance) -> Answer:
    """Return a placement that moves as few running tasks as possible."""
    if not instance.running:
        return exact(instance)
    objective = replace(instance.objective, terms=("moved",))
    return exact(replace(instance, objective=objective))


def first_fit(instance: Instance) -> Answer:
    """Place each task on the first node and worker where no rule breaks; what is left is refused.

    Valid and complete, by the judge; neither optimal nor indifferent to the order of nodes.
    """
    problem = compile_problem(instance)
    tasks, nodes = problem.task_count, problem.node_count
    placed, workers = [UNPLACED] * tasks, [UNPLACED] * tasks
    for task in range(tasks):
        places = [(n, w) for n in range(nodes) for w in range(tasks)]
        for placed[task], workers[task] in places:
            made = Placement(tuple(placed), tuple(workers))
            if all(v.rule == "placed" for v in judge(problem, made).violations):
                break
        else:
            return Refusal(f"no place for task {task}")
    answer = Placement(tuple(placed), tuple(workers))
    return answer if judge(problem, answer).valid else Refusal("not placed whole")


def over_memory_by_one_unit(instance: Instance) -> Answer:
    def roomier(node: Node) -> Node:
        memory = node.resources.get("memory_mb")
        more = {} if memory is None else {"memory_mb": memory + 1}
        return replace(node, resources={**node.resources, **more})

    nodes = tuple(roomier(node) for node in instance.cluster.nodes)
    return exact(replace(instance, cluster=replace(instance.cluster, nodes=nodes)))


def ignores_racks(instance: Instance) -> Answer:
    nodes = tuple(replace(node, rack="one") for node in instance.cluster.nodes)
    return exact(replace(instance, cluster=replace(instance.cluster, nodes=nodes)))


def refuses_when_90_percent_full(instance: Instance) -> Answer:
    answer = exact(instance)
    if isinstance(answer, Placement):
        for row in judge(compile_problem(instance), answer).node_loads():
            for key, load in row["load"].items():
                capacity = row["capacity"][key]
                if capacity is not None and load and load >= 0.9 * capacity:
                    return Refusal("it would be too full")
    return answer


def crashes_on_cycles(instance: Instance) -> Answer:
    for topology in instance.topologies:
        ends = [(s.source, s.target) for s in topology.streams if s.source != s.target]
        list(nx.topological_sort(nx.DiGraph(ends)))  # raises where there is a cycle
    return exact(instance)


def answers_at_random(instance: Instance) -> Answer:
    answer = exact(instance)
    if isinstance(answer, Refusal):
        return answer
    shift = random.randrange(50)
    return Placement(answer.nodes, tuple(w if w < 0 else w + shift for w in answer.workers))


def forgets_the_last_task(instance: Instance) -> Answer:
    answer = exact(instance)
    if isinstance(answer, Refusal) or not answer.nodes:
        return answer
    return Placement((*answer.nodes[:-1], UNPLACED), (*answer.workers[:-1], UNPLACED))


def two_topologies_in_a_worker(instance: Instance) -> Answer:
    answer = exact(instance)
    if isinstance(answer, Refusal):
        return answer
    workers = list(answer.workers)
    tasks = list(enumerate(instance.task_names()))
    for t, (topology, _) in tasks:
        for u, (other, _) in tasks[:t]:
            if other != topology and answer.nodes[u] == answer.nodes[t] != UNPLACED:
                workers[t] = workers[u]
    return Placement(answer.nodes, tuple(workers))


def ignores_the_heap(instance: Instance) -> Answer:
    topologies = tuple(replace(one, worker_max_heap_mb=None) for one in instance.topologies)
    return exact(replace(instance, topologies=topologies))


def crashes_at_a_limit_of_moves(instance: Instance) -> Answer:
    if instance.objective.limits:
        raise ValueError("limits")
    return exact(instance)


def depends_on_node_order(instance: Instance) -> Answer:
    costs = tuple(
        LinearCost(f"{topology}/{task}", node.id, Decimal(index))
        for topology, task in instance.task_names()
        for index, node in enumerate(instance.cluster.nodes)
    )
    soft, limits = instance.objective.soft, instance.objective.limits
    rejected = ("rejected",) if "rejected" in instance.objective.parts else ()
    objective = Objective((*rejected, "linear"), soft, limits)
    return exact(replace(instance, linear=costs, objective=objective))


def hangs_without_tasks(instance: Instance) -> Answer:
    while not instance.task_names():
        pass
    return exact(instance)


@dataclass(frozen=True)
class Planted:
    """A scheduler with a fault, the check that finds it, and a word of what it finds."""

    scheduler: Callable[[Instance], Answer]
    check: str
    finding: str
    most_tasks: int = 3
    most_nodes: int = 2
    by_command: str = ""
    """What the finding has instead where the scheduler is a command."""
    examples: int = 200
    time_limit_s: float = 10


PLANTED = (
    Planted(over_memory_by_one_unit, "valid", "memory_mb"),
    # Of two nodes only one distance is paid; it takes a third to choose the wrong one.
    Planted(ignores_racks, "gap<=0", "the optimum", most_nodes=3),
    Planted(refuses_when_90_percent_full, "admits>=1", "too full", examples=20),
    Planted(crashes_on_cycles, "valid", "cycle", by_command="exit code 1"),
    Planted(answers_at_random, "deterministic", "then"),
    Planted(forgets_the_last_task, "complete", "(missing: "),
    Planted(two_topologies_in_a_worker, "valid", "one_topology_per_worker"),
    Planted(ignores_the_heap, "valid", "heap"),
    Planted(depends_on_node_order, "order", "in reverse order"),
    Planted(
        hangs_without_tasks,
        "complete",
        "no answer within",
        by_command="ended at its time limit",
        time_limit_s=0.3,
    ),
)
SCHEDULERS = {one.__name__: one for one in (exact, first_fit, *(p.scheduler for p in PLANTED))}


def main(name: str) -> None:
    instance = instance_from_text(sys.stdin.read())
    answer = SCHEDULERS[name](instance)
    refused = isinstance(answer, Refusal)
    told = {"refused": answer.reason} if refused else placement_document(instance, answer)
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
