"""Which methods are compared with each other, and on which instances.

A comparison is fair where every method of it applies: whoever then gives no valid placement pays
for it. Methods join a group by the number of instances that they apply to, most first, as long as
at least half of the first one's instances stay common to all. Those that apply to less make groups
of their own, on their instances, together with all methods that apply to all of these. Placement
and allocation are never compared.

Instances that are proven infeasible are in no group: there is nothing to place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from slotwise.benchmarks.grading.rows import RunStatus, Subject, subject_of
from slotwise.benchmarks.judged.judging import Flags, Indices, Judged, has_status


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Methods that are compared, and what on.

    Parameters
    ----------
    number
        From 1; the first has most instances.
    subject
        What the cases ask for.
    methods
        Indices in `Judged.methods` of those that are compared, in alphabetical order.
    engines
        The same of the exact engines that ran on all the instances, which are shown beside them.
    instances
        Indices of the instances, ascending.
    infeasible, inapplicable
        Indices of the instances of the subject that are left out: they are proven infeasible, or
        not all methods apply to them or ran there.
    """

    number: int
    subject: Subject
    methods: tuple[int, ...]
    engines: tuple[int, ...]
    instances: Indices
    infeasible: Indices
    inapplicable: Indices


def groups_of(judged: Judged) -> tuple[Group, ...]:
    """Return the groups of a grading: those of placement first, each method in at least one.

    A method that applies to no feasible instance is in none.
    """
    applies = _applies(judged)
    groups: list[Group] = []
    for subject in Subject:
        players = [m for m in applies if subject_of(judged.methods[m]) is subject]
        for methods, instances in _rounds({m: applies[m] for m in players}):
            groups.append(_group(judged, len(groups) + 1, subject, methods, instances))
    return tuple(groups)


def _applies(judged: Judged) -> dict[int, Indices]:
    """Return the feasible instances that each compared method applies to, by the method's index."""
    inapplicable = has_status(judged.runs, RunStatus.DOES_NOT_APPLY)
    plays = ~judged.exact & ~judged.infeasible[judged.instance]
    rows = {}
    for method in np.unique(judged.method[~judged.exact]):
        method_runs = plays & (judged.method == method)
        ran = np.unique(judged.instance[method_runs])
        rows[int(method)] = np.setdiff1d(ran, judged.instance[method_runs & inapplicable])
    return rows


def _rounds(applies: Mapping[int, Indices]) -> Iterator[tuple[tuple[int, ...], Indices]]:
    """Yield the methods and instances of each group."""
    left = {method: some for method, some in applies.items() if len(some)}
    while left:
        order = sorted(left, key=lambda method: (-len(left[method]), method))
        common = left[order[0]]
        chosen = []
        for method in order:
            shared = np.intersect1d(common, left[method], assume_unique=True)
            if 2 * len(shared) >= len(left[order[0]]):
                chosen.append(method)
                common = shared
        others = [
            method
            for method in applies
            if method not in left and not len(np.setdiff1d(common, applies[method]))
        ]
        yield tuple(sorted((*chosen, *others))), common
        for method in chosen:
            del left[method]


def _group(
    judged: Judged, number: int, subject: Subject, methods: Sequence[int], instances: Indices
) -> Group:
    of_subject = np.array([subject_of(name) is subject for name in judged.methods])
    subject_instances = np.unique(judged.instance[of_subject[judged.method]])
    feasible = subject_instances[~judged.infeasible[subject_instances]]
    engines = [
        int(method)
        for method in np.unique(judged.method[judged.exact])
        if of_subject[method] and not len(np.setdiff1d(instances, _ran(judged, method)))
    ]
    return Group(
        number=number,
        subject=subject,
        methods=tuple(methods),
        engines=tuple(engines),
        instances=instances,
        infeasible=subject_instances[judged.infeasible[subject_instances]],
        inapplicable=np.setdiff1d(feasible, instances),
    )


def _ran(judged: Judged, method: int) -> Indices:
    method_runs: Flags = judged.exact & (judged.method == method)
    return np.unique(judged.instance[method_runs])
