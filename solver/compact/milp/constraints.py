"""The hard rules of the linear model, one function each, and the overload of soft resources."""

from __future__ import annotations

from collections.abc import Sequence

from slotwise.models.problem.problem import Problem
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact.milp.builder import Expr, Model, short, total
from slotwise.solver.compact.milp.variables import Counts, Worker, node_name

PER_WORKER = ("onheap", "offheap_worker")
PER_NODE = ("offheap_node",)

Touched = dict[int, Expr]
"""Region -> whether some task that uses it is in the place."""


def add_rules(model: Model, problem: Problem, counts: Counts) -> Expr:
    """State all hard rules; return the part ``overload``."""
    loads: list[list[list[Expr]]] = [[[] for _ in problem.dims] for _ in range(problem.node_count)]
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
    _slots(model, problem, counts)
    return _capacity(model, problem, [[total(load) for load in node] for node in loads])


def _touched(
    model: Model,
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
            for g in counts.layout.groups_of(region.classes):
                if g in worker.counts:
                    name = f"{short(region.id)}_{worker.name}"
                    if r not in touched:
                        touched[r] = model.boolean(f"shares_{name}")
                    most = counts.layout.most[g, worker.node]
                    model.at_most(f"touches_{name}", worker.counts[g], most * touched[r])
    return touched


def _worker_load(
    model: Model, problem: Problem, counts: Counts, worker: Worker, touched: Touched
) -> list[Expr]:
    """Load of a worker per dimension: tasks, shared regions, and at least the minimum cpu."""
    groups = counts.layout.groups
    load: list[Expr] = [
        total(int(problem.demand[groups[g].cls, d]) * x for g, x in worker.counts.items())
        for d in range(len(problem.dims))
    ]
    if problem.memory is not None:
        load[problem.memory] += total(problem.regions[r].size * u for r, u in touched.items())
    if problem.cpu is not None and problem.min_worker_cpu:
        most = sum(
            int(problem.demand[groups[g].cls, problem.cpu]) * counts.layout.most[g, worker.node]
            for g in worker.counts
        )
        cpu = model.real(f"cpu_{worker.name}", max(most, problem.min_worker_cpu))
        model.at_most(f"counts_cpu_{worker.name}", load[problem.cpu], cpu)
        assert worker.open is not None, "a least cpu makes it count whether a worker is open"
        model.at_most(f"least_cpu_{worker.name}", problem.min_worker_cpu * worker.open, cpu)
        load[problem.cpu] = cpu + 0
    return load


def _capacity(model: Model, problem: Problem, loads: list[list[Expr]]) -> Expr:
    """Load <= capacity of a hard resource; overload >= load - capacity of a soft one."""
    overload: list[Expr] = []
    for n, node_loads in enumerate(loads):
        for d, load in enumerate(node_loads):
            capacity = int(problem.capacity[n, d])
            name = f"{short(problem.dims[d])}_{node_name(problem, n)}"
            excess = _most(load) - capacity
            if capacity == NO_LIMIT or excess <= 0:
                continue
            if problem.hard[d]:
                model.at_most(f"capacity_{name}", load, capacity)
            elif problem.soft_weight[d]:
                over = model.real(f"overload_{name}", excess)
                model.at_most(f"soft_{name}", load - over, capacity)
                overload.append(int(problem.soft_weight[d]) * over)
    return total(overload)


def _most(load: Expr) -> int:
    """Return a load that no placement exceeds."""
    return sum(int(coefficient) * column.upBound for column, coefficient in load.items())


def _slots(model: Model, problem: Problem, counts: Counts) -> None:
    """Open workers on a node <= its slots."""
    for n in range(problem.node_count):
        here = [w for t in range(len(problem.rules)) for w in counts.workers[t, n]]
        if len(here) > problem.slots[n]:
            opened = total(w.open for w in here)
            model.at_most(f"slots_{node_name(problem, n)}", opened, int(problem.slots[n]))


def _heap(model: Model, problem: Problem, counts: Counts, worker: Worker, touched: Touched) -> None:
    """On-heap memory of a worker, shared regions included, <= its topology's limit."""
    limit = problem.rules[worker.topology].heap_limit
    tasks = total(
        int(problem.heap[counts.layout.groups[g].cls]) * x for g, x in worker.counts.items()
    )
    shared = total(
        problem.regions[r].size * used
        for r, used in touched.items()
        if problem.regions[r].kind == "onheap"
    )
    if limit != NO_LIMIT and _most(tasks + shared) > limit:
        model.at_most(f"heap_{worker.name}", tasks + shared, limit)


def _one_task_per_worker(model: Model, problem: Problem, worker: Worker) -> None:
    """At most one task in a worker."""
    if problem.rules[worker.topology].one_task_per_worker:
        model.at_most(f"one_task_{worker.name}", total(worker.counts.values()), 1)


def _one_component_per_worker(
    model: Model, problem: Problem, counts: Counts, worker: Worker
) -> None:
    """Tasks of one component in a worker."""
    if not problem.rules[worker.topology].one_component_per_worker:
        return
    components = sorted({_component(problem, counts, g) for g in worker.counts})
    kinds = [_present(model, problem, counts, worker, component) for component in components]
    model.at_most(f"one_component_{worker.name}", total(kinds), 1)


def _incompatible(model: Model, problem: Problem, counts: Counts, worker: Worker) -> None:
    """Components of a pair share no worker; (x, x): at most one task of x in a worker."""
    for a, b in problem.rules[worker.topology].incompatible:
        name = f"incompatible_{worker.name}"
        ours, theirs = (_members(problem, counts, worker, c) for c in (a, b))
        if a == b:
            model.at_most(name, total(worker.counts[g] for g in ours), 1)
        elif ours and theirs:
            kinds = [_present(model, problem, counts, worker, c) for c in (a, b)]
            model.at_most(name, total(kinds), 1)


def _max_per_node(
    model: Model, problem: Problem, counts: Counts, workers: Sequence[Worker]
) -> None:
    """At most m tasks of a component on a node, over all workers there."""
    if not workers:
        return
    for component, most in problem.rules[workers[0].topology].max_per_node:
        tasks = [w.counts[g] for w in workers for g in _members(problem, counts, w, component)]
        name = f"max_{short(problem.components[component][1])}"
        model.at_most(f"{name}_{node_name(problem, workers[0].node)}", total(tasks), most)


def _component(problem: Problem, counts: Counts, group: int) -> int:
    return problem.classes[counts.layout.groups[group].cls].component


def _members(problem: Problem, counts: Counts, worker: Worker, component: int) -> list[int]:
    return [g for g in worker.counts if _component(problem, counts, g) == component]


def _present(
    model: Model, problem: Problem, counts: Counts, worker: Worker, component: int
) -> Expr:
    """Return a boolean >= (some task of the component is in the worker)."""
    name = f"{short(problem.components[component][1])}_{worker.name}"
    present = model.boolean(f"has_{name}")
    for g in _members(problem, counts, worker, component):
        most = counts.layout.most[g, worker.node]
        model.at_most(f"shows_{name}", worker.counts[g], most * present)
    return present
