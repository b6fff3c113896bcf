"""The hard rules of the compact model, one function each, and the overload of soft resources."""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.cp_sat.variables import Count, Counts, Worker

PER_WORKER = ("onheap", "offheap_worker")
PER_NODE = ("offheap_node",)

Touched = dict[int, cp_model.IntVar]
"""Region -> whether some task that uses it is in the place."""


Loads = list[list[Count]]
"""[node][dimension] what the workers there take."""


def add_rules(model: cp_model.CpModel, problem: Problem, counts: Counts) -> Count:
    """State all hard rules; return the part ``overload``."""
    loads = add_worker_rules(model, problem, counts)
    _slots(model, problem, counts)
    return _capacity(model, problem, loads)


def add_worker_rules(model: cp_model.CpModel, problem: Problem, counts: Counts) -> Loads:
    """State the rules inside workers and nodes, all but slots and capacities; return the loads."""
    loads: Loads = [[0] * len(problem.dims) for _ in range(problem.node_count)]
    for worker in counts.all_workers():
        touched = _touched(model, problem, counts, (worker,), PER_WORKER)
        _heap(model, problem, counts, worker, touched)
        _one_task_per_worker(model, problem, worker)
        _one_component_per_worker(model, problem, counts, worker)
        _incompatible(model, problem, counts, worker)
        for d, load in enumerate(_worker_load(model, problem, counts, worker, touched)):
            loads[worker.node][d] += load
    for (_, node), workers in counts.workers.items():
        _max_per_node(model, problem, counts, workers)
        for r, used in _touched(model, problem, counts, workers, PER_NODE).items():
            assert problem.memory is not None, "a region gives the problem a memory dimension"
            loads[node][problem.memory] += problem.regions[r].size * used
    return loads


def _touched(
    model: cp_model.CpModel,
    problem: Problem,
    counts: Counts,
    workers: Sequence[Worker],
    kinds: tuple[str, ...],
) -> Touched:
    """State touched >= (count > 0) for every group that uses the region, in any of the workers."""
    touched: Touched = {}
    for r, region in enumerate(problem.regions):
        if region.kind not in kinds:
            continue
        for worker in workers:
            for g in counts.groups_of(region.classes):
                if g in worker.counts:
                    used = touched.setdefault(r, model.new_bool_var(f"touched_r{r}"))
                    model.add(worker.counts[g] <= counts.most[g, worker.node] * used)
    return touched


def _worker_load(
    model: cp_model.CpModel, problem: Problem, counts: Counts, worker: Worker, touched: Touched
) -> list[Count]:
    """Load of a worker per dimension: tasks, shared regions, and at least the minimum cpu."""
    load: list[Count] = [
        sum(int(problem.demand[counts.groups[g].cls, d]) * x for g, x in worker.counts.items())
        for d in range(len(problem.dims))
    ]
    if problem.memory is not None:
        load[problem.memory] += sum(problem.regions[r].size * used for r, used in touched.items())
    if problem.cpu is not None and problem.min_worker_cpu:
        most = sum(
            int(problem.demand[counts.groups[g].cls, problem.cpu]) * counts.most[g, worker.node]
            for g in worker.counts
        )
        cpu = model.new_int_var(0, max(most, problem.min_worker_cpu), "worker_cpu")
        model.add(cpu >= load[problem.cpu])
        model.add(cpu >= problem.min_worker_cpu * worker.open)
        load[problem.cpu] = cpu
    return load


def _capacity(model: cp_model.CpModel, problem: Problem, loads: Loads) -> Count:
    """Load <= capacity of a hard resource; overload >= load - capacity of a soft one."""
    overload: Count = 0
    for n, node_loads in enumerate(loads):
        for d, load in enumerate(node_loads):
            capacity = int(problem.capacity[n, d])
            if capacity == NO_LIMIT:
                continue
            if problem.hard[d]:
                model.add(load <= capacity)
            elif problem.soft_weight[d]:
                over = model.new_int_var(0, _most_load(problem, d), f"over_n{n}_d{d}")
                model.add(over >= load - capacity)
                overload += int(problem.soft_weight[d]) * over
    return overload


def _most_load(problem: Problem, d: int) -> int:
    """Return a load that no node can exceed, whatever is placed on it."""
    most = sum(
        int(need) * size for need, size in zip(problem.demand[:, d], problem.sizes, strict=True)
    )
    if d == problem.memory:
        most += problem.task_count * sum(region.size for region in problem.regions)
    if d == problem.cpu:
        most += problem.task_count * problem.min_worker_cpu
    return most


def _slots(model: cp_model.CpModel, problem: Problem, counts: Counts) -> None:
    """Open workers on a node <= its slots."""
    for n in range(problem.node_count):
        opened = [w.open for t in range(len(problem.rules)) for w in counts.workers[t, n]]
        if len(opened) > problem.slots[n]:
            model.add(sum(opened) <= int(problem.slots[n]))


def _heap(
    model: cp_model.CpModel, problem: Problem, counts: Counts, worker: Worker, touched: Touched
) -> None:
    """On-heap memory of a worker, shared regions included, <= its topology's limit."""
    limit = problem.rules[worker.topology].heap_limit
    if limit == NO_LIMIT:
        return
    heap: Count = sum(
        int(problem.heap[counts.groups[g].cls]) * count for g, count in worker.counts.items()
    )
    heap += sum(
        problem.regions[r].size * used
        for r, used in touched.items()
        if problem.regions[r].kind == "onheap"
    )
    model.add(heap <= limit)


def _one_task_per_worker(model: cp_model.CpModel, problem: Problem, worker: Worker) -> None:
    """At most one task in a worker."""
    if problem.rules[worker.topology].one_task_per_worker:
        model.add(sum(worker.counts.values()) <= 1)


def _one_component_per_worker(
    model: cp_model.CpModel, problem: Problem, counts: Counts, worker: Worker
) -> None:
    """Tasks of one component in a worker."""
    if not problem.rules[worker.topology].one_component_per_worker:
        return
    components = sorted({_component(problem, counts, g) for g in worker.counts})
    members = [_members(problem, counts, worker, component) for component in components]
    model.add(sum(_present(model, counts, worker, tasks) for tasks in members) <= 1)


def _incompatible(
    model: cp_model.CpModel, problem: Problem, counts: Counts, worker: Worker
) -> None:
    """Components of a pair share no worker; (x, x): at most one task of x in a worker."""
    for a, b in problem.rules[worker.topology].incompatible:
        ours, theirs = (_members(problem, counts, worker, c) for c in (a, b))
        if a == b:
            model.add(sum(worker.counts[g] for g in ours) <= 1)
        elif ours and theirs:
            first = _present(model, counts, worker, ours)
            model.add(first + _present(model, counts, worker, theirs) <= 1)


def _max_per_node(
    model: cp_model.CpModel, problem: Problem, counts: Counts, workers: Sequence[Worker]
) -> None:
    """At most m tasks of a component on a node, over all workers there."""
    if not workers:
        return
    for component, most in problem.rules[workers[0].topology].max_per_node:
        tasks = [w.counts[g] for w in workers for g in _members(problem, counts, w, component)]
        model.add(sum(tasks) <= most)


def _component(problem: Problem, counts: Counts, group: int) -> int:
    return problem.classes[counts.groups[group].cls].component


def _members(problem: Problem, counts: Counts, worker: Worker, component: int) -> list[int]:
    return [g for g in worker.counts if _component(problem, counts, g) == component]


def _present(
    model: cp_model.CpModel, counts: Counts, worker: Worker, members: list[int]
) -> cp_model.IntVar:
    """Return a boolean >= (some of the groups is in the worker)."""
    present = model.new_bool_var("present")
    for g in members:
        model.add(worker.counts[g] <= counts.most[g, worker.node] * present)
    return present
