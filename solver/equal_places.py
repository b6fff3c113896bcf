"""Which nodes and racks can be exchanged without any rule or cost noticing."""

from __future__ import annotations

from slotwise.models.problem import Problem


def equal_nodes(problem: Problem) -> list[list[int]]:
    """Return groups of nodes of one rack that are alike; no task has its home on them."""
    groups: dict[object, list[int]] = {}
    for n in range(problem.node_count):
        signature = _node_signature(problem, n)
        if signature is not None:
            groups.setdefault((int(problem.node_rack[n]), signature), []).append(n)
    return list(groups.values())


def equal_racks(problem: Problem) -> list[list[list[int]]]:
    """Return groups of racks (as lists of nodes) that hold the same kinds of nodes."""
    groups: dict[object, list[list[int]]] = {}
    for r in range(len(problem.racks)):
        nodes = [n for n in range(problem.node_count) if problem.node_rack[n] == r]
        signatures = [_node_signature(problem, n) for n in nodes]
        if None not in signatures:
            groups.setdefault(tuple(sorted(map(repr, signatures))), []).append(nodes)
    return list(groups.values())


def _node_signature(problem: Problem, node: int) -> tuple[object, ...] | None:
    """Return what makes a node equal to others of its rack; ``None`` if tasks have homes on it."""
    if any(one.home is not None and one.home[0] == node for one in problem.classes):
        return None
    linear = () if problem.linear is None else tuple(problem.linear[:, node].tolist())
    return (tuple(problem.capacity[node].tolist()), int(problem.slots[node]), linear)
