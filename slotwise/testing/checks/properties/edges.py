"""Instances in which a placement just does not fit: where an error by one unit shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.values import as_decimal


def edges(instance: Instance, placement: Placement) -> Iterator[Instance]:
    """Yield for each hard resource the instance with one unit too little for `placement`.

    On every node that it uses, the capacity is one unit below its load; the unit is the finest
    that the instance's numbers need. Nothing is yielded for a placement that breaks a rule.
    """
    problem = compile_problem(instance)
    verdict = judge(problem, placement)
    if not verdict.valid:
        return
    load = verdict.accounting.node_load
    for d, key in enumerate(problem.dims):
        if key in instance.objective.soft or not load[:, d].any():
            continue
        nodes = []
        for n, node in enumerate(instance.cluster.nodes):
            used = int(load[n, d])
            short = as_decimal((used - 1) * problem.units[d]) if used else None
            resources = {**node.resources, key: short} if used else node.resources
            nodes.append(replace(node, resources=resources))
        yield replace(instance, cluster=replace(instance.cluster, nodes=tuple(nodes)))
