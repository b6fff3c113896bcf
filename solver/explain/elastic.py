"""The cheapest combination of changes after which an instance has a placement, by one model.

Each lever has an amount, a whole number of steps from 0, and relaxes its rows by that much. The
counts of tasks in workers are those of the compact models, on the instance with all levers at their
largest amount. CP-SAT minimises the price, so an optimum is proven to be the cheapest of all
combinations of these levers, whatever their number. In formulas: docs/formulations/conflicts.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from ortools.sat.python import cp_model

from slotwise.models.errors import InternalError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import TaskClass
from slotwise.models.problem.scaling import Scale, resource_numbers
from slotwise.models.values import NO_LIMIT
from slotwise.solver.compact import Count, proven_bound, run_cp_sat
from slotwise.solver.compact.cp_sat.builder import CpBuilder
from slotwise.solver.compact.formulation import order_workers
from slotwise.solver.compact.layout import make_layout
from slotwise.solver.compact.model_size import check_model_size
from slotwise.solver.compact.variables import Counts, Worker, read_placement
from slotwise.solver.core.declared_rules import unknown
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.not_taken import NotTakenError
from slotwise.solver.core.result import Limits
from slotwise.solver.explain import change as kinds
from slotwise.solver.explain.change import Change, apply_change
from slotwise.solver.explain.explanation import Repair
from slotwise.solver.explain.feasibility import question
from slotwise.solver.explain.levers import Lever, merged_changes

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
    }
)
"""Rules that the model states; `question` removes soft resources and matrices."""

WIDENING = frozenset(
    {kinds.ADD_NODES, kinds.RAISE_CAPACITY, kinds.RAISE_SLOTS, kinds.ALLOW_PER_NODE}
)
"""Changes that allow more tasks or workers in a place; counts allow for their largest amount."""

CONFIRMED_FROM = 2**31
"""From such a price in the model's units on, a proof counts once it holds without presolve, too."""

PriceOf = Callable[[Change], Fraction]


@dataclass(frozen=True, slots=True)
class Answer:
    """The cheapest repair, ``None`` where none was found; whether that is proven."""

    repair: Repair | None
    is_proven: bool


class ElasticModel:
    """The model of an instance and levers of it.

    Parameters
    ----------
    instance
        An instance without placement.
    levers
        The possible changes, one or more.
    price_of
        Price of a change: a base price plus an amount linear in its size.
    token
        Stops building and search.

    Raises
    ------
    NotTakenError
        Where the instance has a rule that the model does not state, or the model would be too
        large; the reason is its text.
    CancelledError
        When `token` ends the building.
    """

    def __init__(
        self, instance: Instance, levers: Iterable[Lever], price_of: PriceOf, token: RunToken
    ) -> None:
        self._instance, self._price_of, self._token = instance, price_of, token
        # Nodes are added first: the copies are of nodes as they were.
        self._levers = sorted(levers, key=lambda one: one.base.kind != kinds.ADD_NODES)
        widest = instance
        for lever in self._levers:
            if lever.base.kind in WIDENING:
                widest = apply_change(widest, lever.change(lever.most))
        self._problem = problem = compile_problem(question(widest))
        reason = unknown(problem, RULES, {"overload", "rejected"})
        if reason is not None:
            raise NotTakenError(reason)
        check_model_size(problem, token, network=False)
        numbers = resource_numbers(instance)
        self._units = {key: Scale.fitting(values).unit for key, values in numbers.items()}
        self._builder = CpBuilder(cp_model.CpModel(), token)
        self._add = self._builder.model.add
        self._layout = make_layout(problem, token)
        self._steps = [self._builder.whole("", lever.most) for lever in self._levers]
        self._used = [self._is_used(*pair) for pair in zip(self._levers, self._steps, strict=True)]
        self._slacks: dict[tuple[str, ...], list[Count]] = {}
        for lever, steps in zip(self._levers, self._steps, strict=True):
            for key in _loosened(lever.base):
                self._slacks.setdefault(key, []).append(steps)
        self._is_added = self._added_nodes()
        self._counts = self._make_counts()
        self._removed = self._removed_tasks()
        self._place_tasks()
        self._state_rules()
        order_workers(self._builder, self._counts)
        self._last: list[Count] = []

    def _is_used(self, lever: Lever, steps: Count) -> Count:
        used = self._builder.boolean("")
        self._add(steps <= lever.most * used)
        self._add(steps >= used)
        return used

    def _slack(self, *key: str) -> Count:
        """Return the number of steps by which levers relax a constraint."""
        return sum(self._slacks.get(key, ()))

    # Variables: added nodes, workers, removed tasks.

    def _added_nodes(self) -> dict[int, Count]:
        """Return, for each node that could be added, the boolean "is added"."""
        added: dict[int, Count] = {}
        first = len(self._instance.cluster.nodes)
        for lever, steps in zip(self._levers, self._steps, strict=True):
            if lever.base.kind == kinds.ADD_NODES:
                copies = [self._builder.boolean("") for _ in range(lever.most)]
                self._add(sum(copies) == steps)
                for before, after in pairwise(copies):
                    self._add(before >= after)
                added.update(zip(range(first, first + lever.most), copies, strict=True))
                first += lever.most
        return added

    def _make_counts(self) -> Counts[Count]:
        """Return the counts of tasks in each worker; 0 on nodes that are not added."""
        layout, problem = self._layout, self._problem
        workers: dict[tuple[int, int], tuple[Worker[Count], ...]] = {}
        for (t, n), labels in layout.labels.items():
            most = {
                g: layout.most[g, n]
                for g in layout.groups_of(problem.rules[t].classes)
                if (g, n) in layout.most
            }
            node_workers = []
            for label in labels:
                opened = self._builder.boolean("")
                counts = {g: self._builder.whole("", upper) for g, upper in most.items()}
                for g, count in counts.items():
                    self._add(count <= most[g] * opened)
                self._add(sum(counts.values()) >= opened)
                self._add(opened <= self._is_added.get(n, 1))
                node_workers.append(Worker(t, n, label, "", opened, counts))
            workers[t, n] = tuple(node_workers)
        return Counts(layout, workers, {})

    def _removed_tasks(self) -> list[Count]:
        """Return, for each group, the number of its tasks that levers remove.

        A lower parallelism leaves out the tasks of the highest index, an eviction all; not every
        topology can be evicted.
        """
        problem = self._problem
        evicted = [self._slack(kinds.EVICT, rules.id) for rules in problem.rules]
        with_tasks = sum(bool(rules.classes) for rules in problem.rules)
        if not all(isinstance(count, int) for count in evicted):
            self._add(sum(evicted) <= with_tasks - 1)
        is_removed: dict[int, Count] = {}
        for c, (t, component) in enumerate(problem.components):
            fewer = self._slack(kinds.LOWER_PARALLELISM, problem.rules[t].id, component)
            classes = (task_class for task_class in problem.classes if task_class.component == c)
            tasks = sorted(task for task_class in classes for task in task_class.tasks)
            if not isinstance(fewer, int):
                is_removed |= {task: self._builder.boolean("") for task in tasks}
                self._add(sum(is_removed[task] for task in tasks) == fewer)
                for lower, higher in pairwise(tasks):
                    self._add(is_removed[lower] <= is_removed[higher])
        return [
            sum(is_removed.get(task, 0) for task in task_class.tasks)
            + task_class.size * evicted[task_class.topology]
            for task_class in map(self._class, range(len(self._layout.groups)))
        ]

    def _place_tasks(self) -> None:
        """State that each task is in a worker or removed, or its topology is rejected."""
        rejected = [
            self._builder.boolean("") if self._problem.may_reject and rules.classes else 0
            for rules in self._problem.rules
        ]
        placed: list[list[Count]] = [[] for _ in self._layout.groups]
        for worker in self._counts.all_workers():
            for g, count in worker.counts.items():
                placed[g].append(count)
        for g, counts in enumerate(placed):
            task_class = self._class(g)
            left_out = self._removed[g] + task_class.size * rejected[task_class.topology]
            self._add(sum(counts) + left_out == task_class.size)

    def _class(self, group: int) -> TaskClass:
        return self._problem.classes[self._layout.groups[group].cls]

    # Rules, in the order of the compact models; loads are in steps of the levers.

    def _state_rules(self) -> None:
        problem = self._problem
        by_node: list[list[Worker[Count]]] = [[] for _ in range(problem.node_count)]
        for worker in self._counts.all_workers():
            by_node[worker.node].append(worker)
        for n, workers in enumerate(by_node):
            loads: list[Count] = [0] * len(problem.dims)
            for worker in workers:
                shared = self._touched((worker,), ("onheap", "offheap_worker"))
                self._heap(worker, shared)
                self._isolation(worker)
                loads = [a + b for a, b in zip(loads, self._loads(worker, shared), strict=True)]
            if problem.memory is not None:
                shared = self._touched(workers, ("offheap_node",))
                loads[problem.memory] += self._shared_load(shared)
            self._capacities(n, loads)
            self._slots(n, workers)
            self._max_per_node(workers)
        self._moves()

    def _steps_per_unit(self, d: int) -> int:
        """Return how many steps of the levers a unit of the widest problem's dimension is."""
        ratio = self._problem.units[d] / self._units[self._problem.dims[d]]
        if ratio.denominator == 1:
            return ratio.numerator
        assert not self._problem.demand[:, d].any(), "the problem has whole steps of each number"
        return 1

    def _touched(
        self, workers: Sequence[Worker[Count]], region_kinds: tuple[str, ...]
    ) -> dict[int, Count]:
        """Return, per region, a boolean that is 1 if a task that uses it is in these workers."""
        touched: dict[int, Count] = {}
        for r, region in enumerate(self._problem.regions):
            users = self._layout.groups_of(region.classes) if region.kind in region_kinds else ()
            for worker in workers:
                for g in users:
                    if g in worker.counts:
                        if r not in touched:
                            touched[r] = self._builder.boolean("")
                        most = self._layout.most[g, worker.node]
                        self._add(worker.counts[g] <= most * touched[r])
        return touched

    def _shared_load(self, touched: Mapping[int, Count], *, heap_only: bool = False) -> Count:
        if not touched:
            return 0
        regions, memory = self._problem.regions, self._problem.memory
        assert memory is not None, "a region gives the problem a memory dimension"
        return self._steps_per_unit(memory) * sum(
            regions[r].size * used
            for r, used in touched.items()
            if regions[r].kind == "onheap" or not heap_only
        )

    def _loads(self, worker: Worker[Count], shared: Mapping[int, Count]) -> list[Count]:
        """Return the load of a worker per dimension."""
        problem = self._problem
        loads = [
            self._steps_per_unit(d)
            * sum(
                int(problem.demand[self._layout.groups[g].cls, d]) * count
                for g, count in worker.counts.items()
            )
            for d in range(len(problem.dims))
        ]
        if problem.memory is not None:
            loads[problem.memory] += self._shared_load(shared)
        if problem.cpu is not None and problem.min_worker_cpu:
            least = problem.min_worker_cpu * self._steps_per_unit(problem.cpu)
            cpu = self._builder.whole("", max(self._builder.most(loads[problem.cpu]), least))
            self._add(cpu >= loads[problem.cpu])
            self._add(cpu >= least * worker.opened - self._slack(kinds.LOWER_WORKER_MIN_CPU))
            loads[problem.cpu] = cpu
        return loads

    def _capacities(self, n: int, loads: Sequence[Count]) -> None:
        """Load <= capacity; of old nodes that before any change, + slack."""
        problem, nodes = self._problem, self._instance.cluster.nodes
        for d, load in enumerate(loads):
            name = problem.dims[d]
            if problem.capacity[n, d] == NO_LIMIT:
                continue
            capacity: Count = int(problem.capacity[n, d]) * self._steps_per_unit(d)
            if n < len(nodes):
                before = nodes[n].resources.get(name) or 0
                slack = self._slack(kinds.RAISE_CAPACITY, nodes[n].id, name)
                capacity = int(Fraction(before) / self._units[name]) + slack
            self._add(load <= capacity)

    def _slots(self, n: int, workers: Sequence[Worker[Count]]) -> None:
        """Open workers <= slots; of old nodes those before any change, + slack."""
        nodes = self._instance.cluster.nodes
        slots: Count = int(self._problem.slots[n])
        if slots == NO_LIMIT:
            return
        if n < len(nodes):
            slots = (nodes[n].slots or 0) + self._slack(kinds.RAISE_SLOTS, nodes[n].id)
        self._add(sum(worker.opened for worker in workers) <= slots)

    def _heap(self, worker: Worker[Count], shared: Mapping[int, Count]) -> None:
        """On-heap memory of a worker, shared regions included, <= its topology's limit + slack."""
        problem, rules = self._problem, self._problem.rules[worker.topology]
        if rules.heap_limit == NO_LIMIT:
            return
        assert problem.memory is not None, "a heap limit gives the problem a memory dimension"
        own = sum(
            int(problem.heap[self._layout.groups[g].cls]) * count
            for g, count in worker.counts.items()
        )
        factor = self._steps_per_unit(problem.memory)
        limit = factor * rules.heap_limit + self._slack(kinds.RAISE_HEAP, rules.id)
        self._add(factor * own + self._shared_load(shared, heap_only=True) <= limit)

    def _isolation(self, worker: Worker[Count]) -> None:
        """One task, or one component, in a worker; incompatible components apart; or dropped."""
        rules = self._problem.rules[worker.topology]
        by_component: dict[int, list[Count]] = {}
        for g, count in worker.counts.items():
            by_component.setdefault(self._class(g).component, []).append(count)
        tasks = {component: sum(counts) for component, counts in by_component.items()}
        present: dict[int, Count] = {}
        if rules.one_component_per_worker or rules.incompatible:
            for component, count in tasks.items():
                present[component] = self._builder.boolean("")
                self._add(count <= self._builder.most(count) * present[component])
        if rules.one_task_per_worker:
            drop = self._slack(kinds.DROP_ONE_TASK, rules.id)
            every = sum(tasks.values())
            self._add(every <= 1 + self._builder.most(every) * drop)
        if rules.one_component_per_worker:
            drop = self._slack(kinds.DROP_ONE_COMPONENT, rules.id)
            self._add(sum(present.values()) <= 1 + len(present) * drop)
        for a, b in rules.incompatible:
            if a in tasks and b in tasks:
                pair = sorted((self._problem.components[a][1], self._problem.components[b][1]))
                drop = self._slack(kinds.DROP_INCOMPATIBLE, rules.id, *pair)
                if a == b:
                    self._add(tasks[a] <= 1 + self._builder.most(tasks[a]) * drop)
                else:
                    self._add(present[a] + present[b] <= 1 + drop)

    def _max_per_node(self, workers: Sequence[Worker[Count]]) -> None:
        """At most m tasks of a component on a node; m before any change, + slack."""
        for topology, rules in zip(self._instance.topologies, self._problem.rules, strict=True):
            for component, _ in rules.max_per_node:
                name = self._problem.components[component][1]
                most = topology.constraints.max_per_node[name]
                tasks = sum(
                    count
                    for worker in workers
                    for g, count in worker.counts.items()
                    if self._class(g).component == component
                )
                self._add(tasks <= most + self._slack(kinds.ALLOW_PER_NODE, topology.id, name))

    def _moves(self) -> None:
        """Tasks not where they run now, rejected ones included, removed ones not, <= limit."""
        if self._problem.move_limit == NO_LIMIT:
            return
        moved: Count = 0
        for g in range(len(self._layout.groups)):
            task_class = self._class(g)
            if task_class.home is not None:
                moved += task_class.size - self._removed[g]
        for worker in self._counts.all_workers():
            for g, count in worker.counts.items():
                if self._class(g).home == (worker.node, worker.label):
                    moved -= count
        self._add(moved <= self._problem.move_limit + self._slack(kinds.ALLOW_MOVED))

    # Search.

    def forbid_last(self) -> None:
        """Exclude, from here on, combinations that contain all levers of the last repair."""
        self._add(sum(self._last) <= len(self._last) - 1)

    def cheapest(self, limits: Limits, below: Fraction | None = None) -> Answer:
        """Return the cheapest combination that costs less than `below`.

        Of several the one with the fewest changes; where amounts cost nothing, with the fewest
        steps.

        Raises
        ------
        NotTakenError
            Where its numbers are too large for CP-SAT.
        """
        price, scale, is_tied = self._price()
        if below is not None:
            self._add(price <= math.ceil(below * scale) - 1)
        self._add(sum(self._steps) >= 1)
        model = self._builder.model
        values, is_proven = self._minimise(model, price, limits)
        if values is not None and len(self._levers) > 1:
            tied = model.clone()
            tied.add(price <= values.value(price))
            goal = sum(self._steps if is_tied else self._used)
            simplest, is_simplest = self._minimise(tied, goal, limits)
            values = simplest or values
            is_proven &= is_simplest or not is_tied
        if values is None:
            return Answer(None, is_proven)
        return Answer(self._repair(values.value, is_proven), is_proven)

    def _price(self) -> tuple[Count, int, bool]:
        """Return the price, in parts of 1 so that it is whole, and whether amounts may be free.

        Of one lever the price is its amount: more of it never costs less.
        """
        if len(self._levers) == 1:
            return self._steps[0], 1, False
        bases, rates = [], []
        for lever in self._levers:
            first = self._price_of(lever.change(1))
            rates.append(self._price_of(lever.change(2)) - first if lever.most > 1 else first)
            bases.append(first - rates[-1])
        scale = math.lcm(*(number.denominator for number in (*bases, *rates)))
        price = sum(
            int(rate * scale) * steps + int(base * scale) * used
            for base, rate, steps, used in zip(bases, rates, self._steps, self._used, strict=True)
        )
        return price, scale, not all(rates)

    def _minimise(
        self, model: cp_model.CpModel, goal: Count, limits: Limits
    ) -> tuple[cp_model.CpSolver | None, bool]:
        """Return the best values, if any, and whether it is proven that none are better."""
        model.minimize(goal)
        if model.validate():
            raise NotTakenError("its numbers are too large for CP-SAT")
        answer = run_cp_sat(model, limits, self._token)
        if not answer.has_solution:
            values, is_proven = None, answer.status == cp_model.INFEASIBLE
        else:
            values = answer.solver
            is_proven = proven_bound(model, values, answer.status) == values.value(goal)
        if is_proven and self._builder.most(goal) >= CONFIRMED_FROM:
            better = model.clone()
            if values is not None:
                better.add(goal <= values.value(goal) - 1)
            again = run_cp_sat(better, replace(limits, presolve=False), self._token)
            is_proven = again.status == cp_model.INFEASIBLE
        return values, is_proven

    def _repair(self, value: Callable[[Count], int], is_least: bool) -> Repair:
        """Return the repair that values of the variables describe."""
        instance, changes, self._last = self._instance, [], []
        nodes = list(range(len(instance.cluster.nodes)))  # that are kept of the widest instance
        first = len(nodes)
        for lever, counted, used in zip(self._levers, self._steps, self._used, strict=True):
            steps = value(counted)
            if lever.base.kind == kinds.ADD_NODES:
                nodes += range(first, first + steps)
                first += lever.most
            if steps:
                self._last.append(used)
                changes.append(lever.change(steps))
                instance = apply_change(instance, changes[-1])
        widest = read_placement(self._problem, self._counts, value)
        index = {node: n for n, node in enumerate(nodes)} | {UNPLACED: UNPLACED}
        names = self._problem.instance.task_names()
        places = dict(zip(names, zip(widest.nodes, widest.workers, strict=True), strict=True))
        left = [places[name] for name in instance.task_names()]
        placement = Placement(tuple(index[n] for n, _ in left), tuple(w for _, w in left))
        if not judge(instance, placement).valid:
            raise InternalError(f"the judge finds no valid placement after {changes}")
        price = sum(map(self._price_of, changes), Fraction(0))
        return Repair(merged_changes(self._instance, changes), price, is_least, instance, placement)


def _loosened(change: Change) -> Iterable[tuple[str, ...]]:
    """Yield the keys, as in `_slack`, of the constraints that a change relaxes."""
    if change.kind in (kinds.RAISE_CAPACITY, kinds.RAISE_SLOTS):
        subject = (change.subject,) if change.subject else ()
        yield from ((change.kind, node, *subject) for node in change.nodes)
    else:
        names = (*change.topologies, *sorted(filter(None, (change.subject, change.other))))
        yield (change.kind, *names)
