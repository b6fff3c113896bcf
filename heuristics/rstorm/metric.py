"""R-Storm's distance between a task and a node, in exact integers."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from numpy.random import Generator

from slotwise.heuristics.decision_log import DecisionLog
from slotwise.heuristics.method import Method
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError, suggestion
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.problem.problem import CLUSTER, NODE, RACK, Problem
from slotwise.models.values import NO_LIMIT, as_decimal, exact, exact_text

SAME_RACK, OTHER_RACK = 1, 2
"""Network distances of the research code; a node is at `SAME_RACK` from itself too."""


class Metric:
    """R-Storm's distance squared, times a constant that makes it a whole number.

    The square root and the constant change no comparison, so that equal distances are equal: ties
    never depend on rounding.

    Parameters
    ----------
    memory, cpu, network
        Weights of the square of one integer step of memory and of cpu, and of one step of the
        network term.
    network_term
        (reference node, node) -> the network term, in integer steps.
    """

    def __init__(
        self,
        problem: Problem,
        memory: Fraction,
        cpu: Fraction,
        network: Fraction,
        network_term: Callable[[int, int], int],
    ) -> None:
        self._problem = problem
        whole = math.lcm(*(factor.denominator for factor in (memory, cpu, network)))
        self._memory, self._cpu, self._network = (
            int(factor * whole) for factor in (memory, cpu, network)
        )
        self._network_term = network_term

    def network(self, reference: int, node: int) -> int:
        """Return the network's part of `distance`."""
        return self._network * self._network_term(reference, node)

    def distance(self, task: Sequence[int], node: Sequence[int], network: int) -> int:
        """Return the scaled square of the distance.

        Parameters
        ----------
        task, node
            Demand of the task; what the node has left: one integer per dimension.
        network
            `Metric.network` from the reference node; 0 = the network plays no part.
        """
        problem, total = self._problem, network
        if problem.memory is not None:
            total += self._memory * (task[problem.memory] - node[problem.memory]) ** 2
        if problem.cpu is not None:
            total += self._cpu * (task[problem.cpu] - node[problem.cpu]) ** 2
        return total


def pseudocode_metric(problem: Problem, weights: RStormWeights) -> Metric:
    """Return Algorithm 4's distance: weights before the squares, the network not squared."""
    memory, cpu = shares(problem, weights.normalise)
    unit = problem.part_units["network"] / problem.flow_unit
    if weights.normalise:
        farthest = problem.distance if problem.matrix is None else problem.matrix
        unit = Fraction(1, max(1, int(farthest.max())))
    return Metric(
        problem,
        weights.memory * memory**2,
        weights.cpu * cpu**2,
        weights.network * unit,
        lambda reference, node: network_distance(problem, reference, node),
    )


def research_metric(problem: Problem, weights: RStormWeights) -> Metric:
    """Return the research code's distance: every term is weighted, then squared.

    The network distance is `SAME_RACK` or `OTHER_RACK`; where the cluster gives distances node by
    node, which that code cannot, it is the entry of the matrix in the instance's unit.
    """
    memory, cpu = shares(problem, weights.normalise)

    def between(reference: int, node: int) -> int:
        if problem.matrix is not None:
            return int(problem.matrix[reference, node])
        same = problem.node_rack[reference] == problem.node_rack[node]
        return SAME_RACK if same else OTHER_RACK

    unit = Fraction(1)
    if problem.matrix is not None:
        unit = problem.part_units["network"] / problem.flow_unit
    if weights.normalise:
        farthest = OTHER_RACK if problem.matrix is None else int(problem.matrix.max())
        unit = Fraction(1, max(1, farthest))
    return Metric(
        problem,
        (weights.memory * memory) ** 2,
        (weights.cpu * cpu) ** 2,
        (weights.network * unit) ** 2,
        lambda reference, node: between(reference, node) ** 2,
    )


def network_distance(problem: Problem, reference: int, node: int) -> int:
    """Return the distance of two nodes: the matrix's entry, or that of their common place."""
    if problem.matrix is not None:
        return int(problem.matrix[reference, node])
    if reference == node:
        return int(problem.distance[NODE])
    same_rack = problem.node_rack[reference] == problem.node_rack[node]
    return int(problem.distance[RACK if same_rack else CLUSTER])


def offered(problem: Problem) -> list[list[int]]:
    """Return capacities [N][D].

    A node without limit offers what all tasks together need, or as much as the largest limited one.
    """
    capacity: list[list[int]] = problem.capacity.tolist()
    for d in range(len(problem.dims)):
        demand = problem.demand[:, d].tolist()
        finite = [row[d] for row in capacity if row[d] != NO_LIMIT]
        needed = sum(need * size for need, size in zip(demand, problem.sizes, strict=True))
        enough = max([needed, *finite])
        for row in capacity:
            row[d] = min(row[d], enough)
    return capacity


def shares(problem: Problem, normalise: bool) -> tuple[Fraction, Fraction]:
    """Return what one integer step of memory, and of cpu, counts.

    With `normalise` as a share of the largest node's capacity, else in MB and points.
    """
    rows = offered(problem)
    values = []
    for d in (problem.memory, problem.cpu):
        if d is None:
            values.append(Fraction(0))
        elif normalise:
            values.append(Fraction(1, max(1, *(row[d] for row in rows))))
        else:
            values.append(problem.units[d])
    return values[0], values[1]


# Nodes by distance to a demand, kept in order while loads change.

Demand = tuple[int, ...]
Entry = tuple[int, str, int]
"""Distance, node id (it breaks ties), node index."""


@dataclass(slots=True)
class _Ranks:
    """Entries of all nodes in order, each node's entry, and how many changes they include."""

    ordered: list[Entry]
    entry: list[Entry]
    seen: int


class NodeRanking:
    """The nodes by distance, for each demand that was asked about.

    Only the nodes whose load changed since the last question are moved, so that a task costs a
    few binary searches and not a sort of all nodes.

    Parameters
    ----------
    ids
        The nodes' ids.
    distance
        (demand, node index) -> distance at present.
    """

    def __init__(self, ids: list[str], distance: Callable[[Demand, int], int]) -> None:
        self._ids = ids
        self._distance = distance
        self._changed: list[int] = []
        self._ranks: dict[Demand, _Ranks] = {}

    def change(self, node: int) -> None:
        """Note that the load of `node` is no longer what it was."""
        self._changed.append(node)

    def nearest(self, demand: Demand) -> Iterator[int]:
        """Yield all nodes, nearest first; ties by id."""
        if demand not in self._ranks:
            entry = [self._entry(demand, node) for node in range(len(self._ids))]
            self._ranks[demand] = _Ranks(sorted(entry), entry, len(self._changed))
        ranks = self._ranks[demand]
        for node in set(self._changed[ranks.seen :]):
            del ranks.ordered[bisect_left(ranks.ordered, ranks.entry[node])]
            ranks.entry[node] = self._entry(demand, node)
            insort(ranks.ordered, ranks.entry[node])
        ranks.seen = len(self._changed)
        return (node for _, _, node in ranks.ordered)

    def _entry(self, demand: Demand, node: int) -> Entry:
        return self._distance(demand, node), self._ids[node], node


# The weights of R-Storm's distance, and their form after a name.

TERMS = ("memory", "cpu", "network")
"""The terms of the distance, in the order in which ``weights=`` names them."""

NORMALISE = {"none": False, "capacity": True}
"""Values of ``normalise=``."""


@dataclass(frozen=True, slots=True)
class RStormWeights:
    """Weights of R-Storm's distance (Algorithm 4, line 17).

    Parameters
    ----------
    memory, cpu, network
        Weights of the difference of memory, of that of cpu, and of the network distance; each 0 or
        more.
    normalise
        Whether memory and cpu are first divided by the largest node's capacity and the network
        distance by the largest distance of the cluster. The paper says that weights are there
        "so that values can be normalized" and names no numbers. Without it, memory counts in MB,
        cpu in points and the distance as it is.
    """

    memory: Fraction = Fraction(1)
    cpu: Fraction = Fraction(1)
    network: Fraction = Fraction(1)
    normalise: bool = True

    def __post_init__(self) -> None:
        """Make each weight an exact fraction of 0 or more."""
        for term in TERMS:
            value = getattr(self, term)
            if isinstance(value, bool) or not math.isfinite(value) or value < 0:
                raise InputError("must be a number of 0 or more", field=term, value=value)
            object.__setattr__(self, term, Fraction(value))

    def to_parameters(self) -> dict[str, str]:
        """Return the weights as they are written after a method's name."""
        weights = (exact_text(as_decimal(getattr(self, term))) for term in TERMS)
        normalise = next(word for word, meant in NORMALISE.items() if meant == self.normalise)
        return {"weights": ",".join(weights), "normalise": normalise}

    def other_than(self, default: RStormWeights) -> str:
        """Return what differs from `default`, as it is written; empty = nothing."""
        usual = default.to_parameters()
        return ",".join(f"{k}={v}" for k, v in self.to_parameters().items() if v != usual[k])


def read_weights(
    texts: Mapping[str, tuple[str, ...]], default: RStormWeights, method: str
) -> RStormWeights:
    """Return the weights in `texts`; the rest is as in `default`.

    Parameters
    ----------
    given
        ``weights`` (three numbers, in the order of `TERMS`) and ``normalise`` (one of `NORMALISE`).
    method
        Name of the method, for messages.

    Raises
    ------
    InputError
        For an unknown parameter or value.
    """
    weights = default
    for key, values in texts.items():
        field = f"{method}:{key}"
        if key == "weights":
            if len(values) != len(TERMS):
                rule = f"must be {len(TERMS)} numbers, for {', '.join(TERMS)}; as in {key}=1,1,1"
                raise InputError(rule, field=field, value=",".join(values))
            memory, cpu, network = (Fraction(exact(value, field)) for value in values)
            weights = replace(weights, memory=memory, cpu=cpu, network=network)
        elif key == "normalise":
            if len(values) != 1 or values[0] not in NORMALISE:
                rule = suggestion(",".join(values), NORMALISE)
                raise InputError(rule, field=field, value=",".join(values))
            weights = replace(weights, normalise=NORMALISE[values[0]])
        else:
            rule = f"is not a parameter of {method}; {suggestion(key, default.to_parameters())}"
            raise InputError(rule, field="method", value=key)
    return weights


@dataclass(frozen=True, slots=True)
class WeightedMethod:
    """A version of R-Storm; its parameters are the weights of its distance.

    Parameters
    ----------
    name, source, description
        As in `Method`, with the weights `usual`.
    otherwise
        Description of the method with other weights, which follow it.
    usual
        Weights that its name alone stands for.
    schedule
        (problem, weights, token, log or ``None``) -> placement or refusal; nothing in it is
        random.
    """

    name: str
    source: str
    description: str
    otherwise: str
    usual: RStormWeights
    schedule: Callable[
        [Problem, RStormWeights, CancellationToken, DecisionLog | None], Placement | Refusal
    ]

    def with_weights(self, weights: RStormWeights) -> Method:
        """Return the method with these weights."""

        def place(
            problem: Problem, rng: Generator, token: CancellationToken | None = None
        ) -> Placement | Refusal:
            return self.schedule(problem, weights, token or CancellationToken(), None)

        other = weights.other_than(self.usual)
        return Method(
            name=f"{self.name}:{other}" if other else self.name,
            source=self.source,
            place=place,
            place_until=place,
            place_logged=lambda problem, _, log: self.schedule(
                problem, weights, CancellationToken(), log
            ),
            draws=False,
            description=f"{self.otherwise}: {other}." if other else self.description,
            parameters=weights.to_parameters(),
            configure=lambda given: self.with_weights(read_weights(given, self.usual, self.name)),
        )
