"""The rules, one object each (docs/design.md, 3): its name, who uses it, and what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from slotwise.models.instance.topology import Topology
from slotwise.models.judge.accounting import Accounting, Workers
from slotwise.models.judge.verdict import Violation
from slotwise.models.problem.problem import IntArray, Problem, Rules
from slotwise.models.values import NO_LIMIT


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the problem.

    It has one of three checks, each of which yields what breaks the rule; a rule without any
    changes loads or distances instead (`accounting`, `judge`).

    Parameters
    ----------
    name
        As in `Violation.rule`, in files, and in what an engine declares.
    is_used
        Whether a problem has the rule.
    of_cluster
        Check of the whole placement.
    of_topology
        Check of the workers of one topology.
    of_moves
        Check of the number of tasks that are not where they run now.
    field
        Field of `Topology` that sets the rule, which its default switches off; ``None`` = what sets
        it is deeper in a topology, or elsewhere. Explanations and the kit leave such a rule out of
        an instance by this field.
    """

    name: str
    is_used: Callable[[Problem], bool]
    of_cluster: Callable[[Problem, Accounting], Iterator[Violation]] | None = None
    of_topology: Callable[[Problem, Rules, Workers], Iterator[Violation]] | None = None
    of_moves: Callable[[Problem, int], Iterator[Violation]] | None = None
    field: str | None = None

    @property
    def is_hard(self) -> bool:
        """Whether a placement can break it."""
        return any((self.of_cluster, self.of_topology, self.of_moves))


def violations(problem: Problem, accounting: Accounting, moved: int) -> Iterator[Violation]:
    """Yield every broken rule of a placement; `moved` tasks are not where they run now."""
    for rule in RULES.values():
        if rule.of_cluster is not None:
            yield from rule.of_cluster(problem, accounting)
    for rules, workers in zip(problem.rules, accounting.topologies, strict=True):
        for rule in RULES.values():
            if rule.of_topology is not None:
                yield from rule.of_topology(problem, rules, workers)
    for rule in RULES.values():
        if rule.of_moves is not None:
            yield from rule.of_moves(problem, moved)


def used_rules(problem: Problem) -> Iterator[str]:
    """Yield the names of the rules that `problem` has."""
    return (rule.name for rule in RULES.values() if rule.is_used(problem))


def _placed(problem: Problem, accounting: Accounting) -> Iterator[Violation]:
    """Every task has a place, or the whole topology has none and may be rejected."""
    for rules, workers in zip(problem.rules, accounting.topologies, strict=True):
        needed, placed = sum(problem.classes[c].size for c in rules.classes), workers.placed
        if placed != needed and (placed or not problem.may_reject):
            place = f"topology {rules.id}"
            yield Violation("placed", place, "tasks", Fraction(needed), Fraction(placed))


def _capacity(problem: Problem, accounting: Accounting) -> Iterator[Violation]:
    """Check that the load of a hard resource never exceeds the node's capacity."""
    over = (accounting.node_load > problem.capacity) & problem.hard
    for n, d in np.argwhere(over).tolist():
        yield Violation(
            "capacity",
            f"node {_node(problem, n)}",
            problem.dims[d],
            int(accounting.node_load[n, d]) * problem.units[d],
            int(problem.capacity[n, d]) * problem.units[d],
        )


def _slots(problem: Problem, accounting: Accounting) -> Iterator[Violation]:
    """Check that a node has at most `slots` workers."""
    used = np.bincount(accounting.worker_nodes(), minlength=problem.node_count)
    for n in np.flatnonzero(used > problem.slots).tolist():
        yield Violation(
            "slots",
            f"node {_node(problem, n)}",
            "workers",
            Fraction(int(used[n])),
            Fraction(int(problem.slots[n])),
        )


def _one_topology_per_worker(problem: Problem, accounting: Accounting) -> Iterator[Violation]:
    """Check that a worker holds tasks of one topology only."""
    tenants: dict[tuple[int, int], list[str]] = {}
    for rules, workers in zip(problem.rules, accounting.topologies, strict=True):
        for node, label in zip(workers.node.tolist(), workers.label.tolist(), strict=True):
            tenants.setdefault((node, label), []).append(rules.id)
    for (node, label), ids in tenants.items():
        if len(ids) > 1:
            place = f"node {_node(problem, node)} worker {label}"
            subject = " and ".join(ids)
            yield Violation(
                "one_topology_per_worker", place, subject, Fraction(len(ids)), Fraction(1)
            )


def _heap(problem: Problem, rules: Rules, workers: Workers) -> Iterator[Violation]:
    """On-heap memory of a worker, shared regions included, stays within its topology's limit."""
    if rules.heap_limit == NO_LIMIT:
        return
    assert problem.memory is not None, "a heap limit gives the problem a memory dimension"
    unit = problem.units[problem.memory]
    for g in np.flatnonzero(workers.heap > rules.heap_limit).tolist():
        yield Violation(
            "heap",
            _worker(problem, workers, g),
            f"on-heap memory of {rules.id}",
            int(workers.heap[g]) * unit,
            rules.heap_limit * unit,
        )


def _one_task_per_worker(problem: Problem, rules: Rules, workers: Workers) -> Iterator[Violation]:
    """At most one task in a worker."""
    if not rules.one_task_per_worker:
        return
    tasks = workers.counts.sum(axis=1)
    for g in np.flatnonzero(tasks > 1).tolist():
        place = _worker(problem, workers, g)
        yield Violation(
            "one_task_per_worker", place, rules.id, Fraction(int(tasks[g])), Fraction(1)
        )


def _one_component_per_worker(
    problem: Problem, rules: Rules, workers: Workers
) -> Iterator[Violation]:
    """Tasks of one component in a worker; the stricter one-task rule speaks for itself."""
    if not rules.one_component_per_worker or rules.one_task_per_worker:
        return
    _, counts = _by_component(problem, workers, workers.counts)
    kinds = (counts > 0).sum(axis=1)
    for g in np.flatnonzero(kinds > 1).tolist():
        place = _worker(problem, workers, g)
        yield Violation(
            "one_component_per_worker", place, rules.id, Fraction(int(kinds[g])), Fraction(1)
        )


def _incompatible(problem: Problem, rules: Rules, workers: Workers) -> Iterator[Violation]:
    """Components of a pair share no worker; (x, x): at most one task of x in a worker."""
    if not rules.incompatible:
        return
    components, counts = _by_component(problem, workers, workers.counts)
    column = {component: counts[:, index] for index, component in enumerate(components)}
    for a, b in rules.incompatible:
        if a not in column or b not in column:
            continue
        together = column[a] > 1 if a == b else (column[a] > 0) & (column[b] > 0)
        names = f"{problem.components[a][1]} and {problem.components[b][1]}"
        for g in np.flatnonzero(together).tolist():
            needed = column[a][g] if a == b else 2
            place = _worker(problem, workers, g)
            yield Violation("incompatible", place, names, Fraction(int(needed)), Fraction(1))


def _max_per_node(problem: Problem, rules: Rules, workers: Workers) -> Iterator[Violation]:
    """At most m tasks of a component on a node."""
    if not rules.max_per_node:
        return
    components, counts = _by_component(problem, workers, workers.node_counts)
    column = {component: counts[:, index] for index, component in enumerate(components)}
    for component, most in rules.max_per_node:
        if component not in column:
            continue
        for m in np.flatnonzero(column[component] > most).tolist():
            yield Violation(
                "max_per_node",
                f"node {_node(problem, int(workers.node_ids[m]))}",
                problem.components[component][1],
                Fraction(int(column[component][m])),
                Fraction(most),
            )


def _max_moved(problem: Problem, moved: int) -> Iterator[Violation]:
    """At most `move_limit` tasks are not where they run now; topologies left out have moved."""
    if moved > problem.move_limit:
        yield Violation(
            "max_moved", "cluster", "tasks", Fraction(moved), Fraction(problem.move_limit)
        )


def _by_component(
    problem: Problem, workers: Workers, counts: IntArray
) -> tuple[list[int], IntArray]:
    """Return the topology's components and `counts` [rows, classes] added up for each."""
    of_class = [problem.classes[c].component for c in workers.classes.tolist()]
    components = sorted(set(of_class))
    added = np.zeros((len(counts), len(components)), dtype=np.int64)
    for column, component in enumerate(of_class):
        added[:, components.index(component)] += counts[:, column]
    return components, added


def _node(problem: Problem, node: int) -> str:
    return problem.instance.cluster.nodes[node].id


def _worker(problem: Problem, workers: Workers, group: int) -> str:
    return f"node {_node(problem, int(workers.node[group]))} worker {int(workers.label[group])}"


def _any(has_rule: Callable[[Rules], object]) -> Callable[[Problem], bool]:
    """Return whether some topology of a problem has a rule."""
    return lambda problem: any(has_rule(rules) for rules in problem.rules)


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        Rule("placed", lambda problem: bool(problem.classes), of_cluster=_placed),
        Rule(
            "capacity",
            lambda problem: bool((problem.capacity[:, problem.hard] != NO_LIMIT).any()),
            of_cluster=_capacity,
        ),
        Rule("slots", lambda problem: bool((problem.slots != NO_LIMIT).any()), of_cluster=_slots),
        Rule(
            "heap",
            _any(lambda rules: rules.heap_limit != NO_LIMIT),
            of_topology=_heap,
            field="worker_max_heap_mb",
        ),
        Rule(
            "one_topology_per_worker",
            lambda problem: sum(bool(rules.classes) for rules in problem.rules) > 1,
            of_cluster=_one_topology_per_worker,
        ),
        Rule(
            "one_task_per_worker",
            _any(lambda rules: rules.one_task_per_worker),
            of_topology=_one_task_per_worker,
            field="one_task_per_worker",
        ),
        Rule(
            "one_component_per_worker",
            _any(lambda rules: rules.one_component_per_worker),
            of_topology=_one_component_per_worker,
            field="one_component_per_worker",
        ),
        Rule("incompatible", _any(lambda rules: rules.incompatible), of_topology=_incompatible),
        Rule("max_per_node", _any(lambda rules: rules.max_per_node), of_topology=_max_per_node),
        Rule("max_moved", lambda problem: problem.move_limit != NO_LIMIT, of_moves=_max_moved),
        Rule("shared_memory", lambda problem: bool(problem.regions)),
        Rule("worker_min_cpu", lambda problem: problem.min_worker_cpu > 0),
        Rule("soft", lambda problem: not problem.hard.all()),
        Rule("matrix", lambda problem: problem.matrix is not None),
    )
}
"""All rules by their names, hard ones first."""


def is_set(topology: Topology, field: str) -> bool:
    """Return whether the `field` of a rule is not at its default."""
    return bool(getattr(topology, field) != _default(field))


def without_field(topology: Topology, field: str) -> Topology:
    """Return the topology with the `field` of a rule at its default: without the rule."""
    return replace(topology, **{field: _default(field)})


def _default(field: str) -> Any:
    (noun,) = (one for one in fields(Topology) if one.name == field)
    return noun.default if noun.default_factory is MISSING else noun.default_factory()
