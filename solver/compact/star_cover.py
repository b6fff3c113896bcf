"""The flows between classes as the linearised models want them."""

from __future__ import annotations

from slotwise.models.cancellation import CancellationToken
from slotwise.models.problem.problem import Problem

Stars = dict[int, dict[int, int]]
"""Center class -> leaf class -> flow weight of a pair; every flow is in exactly one star."""


def stars_of(problem: Problem, token: CancellationToken) -> dict[int, Stars]:
    """Cover the flows of each topology by few stars, greedily by number of open flows.

    Few centers mean few products; among equals the smaller class needs fewer booleans.
    """
    by_topology: dict[int, dict[tuple[int, int], int]] = {}
    for (a, b), weight in problem.pair_flows().items():
        if weight:
            by_topology.setdefault(problem.classes[a].topology, {})[a, b] = weight
    return {t: cover(flows, problem.sizes, token) for t, flows in by_topology.items()}


def cover(
    flows: dict[tuple[int, int], int], sizes: tuple[int, ...], token: CancellationToken
) -> Stars:
    """Cover the flows of pairs by few stars; `sizes` of all that the pairs name."""
    left = dict(flows)
    stars: Stars = {}
    while left:
        token.check()
        degree: dict[int, int] = {}
        for a, b in left:
            degree[a] = degree.get(a, 0) + 1
            degree[b] = degree.get(b, 0) + 1
        center = min(degree, key=lambda c: (-degree[c], sizes[c], c))
        stars[center] = {a + b - center: w for (a, b), w in left.items() if center in (a, b)}
        left = {pair: w for pair, w in left.items() if center not in pair}
    return stars


def total_flow(problem: Problem, stars: Stars) -> int:
    """Return the flow over all pairs of tasks in the stars."""
    sizes = problem.sizes
    return sum(w * sizes[a] * sizes[b] for a, leaves in stars.items() for b, w in leaves.items())


def both_ways(problem: Problem) -> dict[tuple[int, int], tuple[int, int]]:
    """Return, per unordered pair of classes a < b, the flow from a to b and from b to a."""
    both: dict[tuple[int, int], tuple[int, int]] = {}
    for flow in problem.flows:
        a, b = min(flow.source, flow.target), max(flow.source, flow.target)
        there, back = both.get((a, b), (0, 0))
        if flow.source == a:
            both[a, b] = (there + flow.weight, back)
        else:
            both[a, b] = (there, back + flow.weight)
    return both
