"""The hard rules of the compact model, one function each, and the overload of soft resources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.layout import node_name, short
from slotwise.solver.compact.variables import Counts, E, ModelBuilder, Worker

RULES = frozenset(
    {
        "placed",
        "capacity",
        "slots",
        "heap",
        "one_topology_per_worker",
        "one_task_per_worker",
        "one_component_per_worker",
        "incompatible",
        "max_per_node",
        "max_moved",
        "shared_memory",
        "worker_min_cpu",
        "soft",
        "matrix",
    }
)
"""Rules that the compact models state, here or in `variables`, `network` and `objective`."""

PER_WORKER = ("onheap", "offheap_worker")
PER_NODE = ("offheap_node",)

Touched: TypeAlias = dict[int, E]
"""Region -> whether some task that uses it is in the place."""

Loads: TypeAlias = list[list[E]]
"""[node][dimension] load of the workers there."""


def add_rules(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> E:
    """State all hard rules; return the part ``overload``."""
    loads = add_worker_rules(model, problem, counts)
    _slots(model, problem, counts)
    return _capacity(model, problem, loads)


def add_worker_rules(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> Loads[E]:
    """State the rules inside workers and nodes, all but slots and capacities; return the loads."""
    loads: list[list[list[E]]] = [[[] for _ in problem.dims] for _ in range(problem.node_count)]
    for worker in counts.all_workers():
        touched = _touched(model, problem, counts, (worker,), PER_WORKER)
        _heap(model, problem, counts, worker, touched)
        _one_task_per_worker(model, problem, worker)
        _one_component_per_worker(model, problem, counts, worker)
        _incompatible(model, problem, counts, worker)
        for d, load in enumerate(_worker_load(model, problem, counts, worker, touched)):
            loads[worker.node][d].append(load)
    for (_, node), workers in counts.workers.items():
        _max_per_node(model, problem, counts, workers)
        for r, used in _touched(model, problem, counts, workers, PER_NODE).items():
            assert problem.memory is not None, "a region gives the problem a memory dimension"
            loads[node][problem.memory].append(problem.regions[r].size * used)
    return [[model.total(load) for load in node] for node in loads]


def _touched(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    workers: Sequence[Worker[E]],
    kinds: tuple[str, ...],
) -> Touched[E]:
    """State touched >= (count > 0) for each group that uses the region, in any of the workers."""
    touched: Touched[E] = {}
    for r, region in enumerate(problem.regions):
        if region.kind not in kinds:
            continue
        for worker in workers:
            for g in counts.groups_of(region.classes):
                if g in worker.counts:
                    name = f"{short(region.id)}_{worker.name}"
                    if r not in touched:
                        touched[r] = model.boolean(f"shares_{name}")
                    most = counts.most[g, worker.node]
                    model.at_most(f"touches_{name}", worker.counts[g], most * touched[r])
    return touched


def _worker_load(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    worker: Worker[E],
    touched: Touched[E],
) -> list[E]:
    """Load of a worker per dimension: tasks, shared regions, and at least the minimum cpu."""
    demand = problem.demand
    load = [
        model.total(int(demand[counts.groups[g].cls, d]) * x for g, x in worker.counts.items())
        for d in range(len(problem.dims))
    ]
    if problem.memory is not None:
        shared = [problem.regions[r].size * used for r, used in touched.items()]
        load[problem.memory] = model.total((load[problem.memory], *shared))
    if problem.cpu is not None and problem.min_worker_cpu:
        most = max(model.most(load[problem.cpu]), problem.min_worker_cpu)
        cpu = model.number(f"cpu_{worker.name}", most)
        model.at_least(f"counts_cpu_{worker.name}", cpu, load[problem.cpu])
        model.at_least(f"least_cpu_{worker.name}", cpu, problem.min_worker_cpu * worker.opened)
        load[problem.cpu] = model.total((cpu,))
    return load


def _capacity(model: ModelBuilder[E], problem: Problem, loads: Loads[E]) -> E:
    """Load <= capacity of a hard resource; overload >= load - capacity of a soft one."""
    overload: list[E] = []
    for n, node_loads in enumerate(loads):
        for d, load in enumerate(node_loads):
            capacity = int(problem.capacity[n, d])
            name = f"{short(problem.dims[d])}_{node_name(problem, n)}"
            excess = model.most(load) - capacity
            if capacity == NO_LIMIT or excess <= 0:
                continue
            if problem.hard[d]:
                model.at_most(f"capacity_{name}", load, capacity)
            elif problem.soft_weight[d]:
                over = model.number(f"overload_{name}", excess)
                model.at_least(f"soft_{name}", over, model.total((load, -capacity)))
                overload.append(int(problem.soft_weight[d]) * over)
    return model.total(overload)


def _slots(model: ModelBuilder[E], problem: Problem, counts: Counts[E]) -> None:
    """Open workers on a node <= its slots."""
    for n in range(problem.node_count):
        workers = [w for t in range(len(problem.rules)) for w in counts.workers[t, n]]
        if len(workers) > problem.slots[n]:
            opened = model.total(w.opened for w in workers)
            model.at_most(f"slots_{node_name(problem, n)}", opened, int(problem.slots[n]))


def _heap(
    model: ModelBuilder[E],
    problem: Problem,
    counts: Counts[E],
    worker: Worker[E],
    touched: Touched[E],
) -> None:
    """On-heap memory of a worker, shared regions included, <= its topology's limit."""
    limit = problem.rules[worker.topology].heap_limit
    if limit == NO_LIMIT:
        return
    tasks = [int(problem.heap[counts.groups[g].cls]) * x for g, x in worker.counts.items()]
    shared = [
        problem.regions[r].size * used
        for r, used in touched.items()
        if problem.regions[r].kind == "onheap"
    ]
    heap = model.total(tasks + shared)
    if model.most(heap) > limit:
        model.at_most(f"heap_{worker.name}", heap, limit)


def _one_task_per_worker(model: ModelBuilder[E], problem: Problem, worker: Worker[E]) -> None:
    """At most one task in a worker."""
    if problem.rules[worker.topology].one_task_per_worker:
        model.at_most(f"one_task_{worker.name}", model.total(worker.counts.values()), 1)


def _one_component_per_worker(
    model: ModelBuilder[E], problem: Problem, counts: Counts[E], worker: Worker[E]
) -> None:
    """Tasks of one component in a worker."""
    if not problem.rules[worker.topology].one_component_per_worker:
        return
    components = sorted({_component(problem, counts, g) for g in worker.counts})
    present = [_present(model, problem, counts, worker, component) for component in components]
    model.at_most(f"one_component_{worker.name}", model.total(present), 1)


def _incompatible(
    model: ModelBuilder[E], problem: Problem, counts: Counts[E], worker: Worker[E]
) -> None:
    """Components of a pair share no worker; (x, x): at most one task of x in a worker."""
    for a, b in problem.rules[worker.topology].incompatible:
        name = f"incompatible_{worker.name}"
        ours, theirs = (_members(problem, counts, worker, c) for c in (a, b))
        if a == b:
            model.at_most(name, model.total(worker.counts[g] for g in ours), 1)
        elif ours and theirs:
            present = [_present(model, problem, counts, worker, c) for c in (a, b)]
            model.at_most(name, model.total(present), 1)


def _max_per_node(
    model: ModelBuilder[E], problem: Problem, counts: Counts[E], workers: Sequence[Worker[E]]
) -> None:
    """At most m tasks of a component on a node, over all workers there."""
    if not workers:
        return
    for component, most in problem.rules[workers[0].topology].max_per_node:
        tasks = [w.counts[g] for w in workers for g in _members(problem, counts, w, component)]
        name = f"max_{short(problem.components[component][1])}"
        model.at_most(f"{name}_{node_name(problem, workers[0].node)}", model.total(tasks), most)


def _component(problem: Problem, counts: Counts[E], group: int) -> int:
    return problem.classes[counts.groups[group].cls].component


def _members(problem: Problem, counts: Counts[E], worker: Worker[E], component: int) -> list[int]:
    return [g for g in worker.counts if _component(problem, counts, g) == component]


def _present(
    model: ModelBuilder[E], problem: Problem, counts: Counts[E], worker: Worker[E], component: int
) -> E:
    """Return a boolean >= (some task of the component is in the worker)."""
    name = f"{short(problem.components[component][1])}_{worker.name}"
    present = model.boolean(f"has_{name}")
    for g in _members(problem, counts, worker, component):
        most = counts.most[g, worker.node]
        model.at_most(f"shows_{name}", worker.counts[g], most * present)
    return present
