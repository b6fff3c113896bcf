"""Numbers of widely differing size put into instances: 10^-6 beside 10^7, and up to the limits.

What engines get wrong with them: sums that overflow, doubles that round, tolerances. The rules of
an instance stay; its rates, costs, matrix and resources change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import GROUPINGS, Stream, Topology
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.scaling import dimension
from slotwise.models.values import MAX_DECIMALS, MAX_VALUE
from slotwise.testing.choices import Chooser, chance, pick

ODD = ("1", "2", "10000003", "0.000001", "785.473387", "9999999.999999", "10000000", "0")
"""Those of the instance that CP-SAT got wrong, and the ends of the range."""
SIZES = (0, 7, 6, 3, 1, -1, -3, -6, 5, 4, 2, -2, -4, -5)
FACTORS = ("1", "1000003", "100000007", "10000000", "1000")
FINEST = Decimal(1).scaleb(-MAX_DECIMALS)
LARGEST = Decimal(10_000_000)

Change = Callable[[Decimal], Decimal]


def wide(choose: Chooser) -> Decimal:
    """Return a number from 10^-6 to 10^7, or 0; its order of magnitude is drawn first."""
    if chance(choose, 30):
        return Decimal(pick(choose, ODD))
    number = Decimal(choose.whole(1, 9_999_999)).scaleb(pick(choose, SIZES) - 6)
    return min(max(number.quantize(FINEST), FINEST), LARGEST)


def with_wide_numbers(choose: Chooser, instance: Instance) -> Instance:
    """Return the instance with numbers of widely differing size; at times just below the limits."""
    if chance(choose, 70):
        instance = with_wide_rates(choose, instance)
    if chance(choose, 60):
        rows = tuple(replace(row, cost=wide(choose)) for row in instance.linear)
        instance = replace(instance, linear=rows)
    if instance.cluster.matrix is not None and chance(choose, 40):
        matrix = tuple(tuple(wide(choose) for _ in row) for row in instance.cluster.matrix)
        instance = replace(instance, cluster=replace(instance.cluster, matrix=matrix))
    if chance(choose, 30):
        instance = _with_wide_resources(choose, instance)
    instance = fitting(instance)
    return to_the_limit(instance) if chance(choose, 15) else instance


def with_wide_rates(choose: Chooser, instance: Instance) -> Instance:
    """Return the instance with rates from 10^-6 to 10^7, and at times one more parallel stream."""
    topologies = []
    for topology in instance.topologies:
        streams = [_wide_stream(choose, stream) for stream in topology.streams]
        if streams and chance(choose, 40):
            streams.append(_wide_stream(choose, pick(choose, streams)))
        topologies.append(replace(topology, streams=tuple(streams)))
    return replace(instance, topologies=tuple(topologies), flow="rates")


def _wide_stream(choose: Chooser, stream: Stream) -> Stream:
    grouping = pick(choose, GROUPINGS) if chance(choose, 40) else stream.grouping
    size = wide(choose) if chance(choose, 10) else None
    return replace(stream, grouping=grouping, rate=wide(choose), tuple_bytes=size)


def fitting(instance: Instance) -> Instance:
    """Return the instance if it keeps the limits, else with coarser numbers.

    With as many decimals as the limits allow; where none are few enough, divided by a power of ten.
    """
    for places in range(MAX_DECIMALS, 0, -1):
        coarser = _with_costs(instance, _rounding(places))
        if is_within_limits(coarser):
            return coarser
    whole = _rounding(0)
    coarser = _with_costs(instance, whole)
    while not is_within_limits(coarser):
        coarser = _with_costs(coarser, lambda number: whole(number / 10))
    return coarser


def to_the_limit(instance: Instance) -> Instance:
    """Return the instance with its rates and costs multiplied by the most that the limits allow."""
    numbers = [s.rate or 0 for t in instance.topologies for s in t.streams]
    largest = max([*numbers, *(row.cost for row in instance.linear)], default=0)
    low, high = 1, int(MAX_VALUE / largest) + 1 if largest else 2
    while low + 1 < high:
        middle = (low + high) // 2
        if is_within_limits(_times(instance, middle)):
            low = middle
        else:
            high = middle
    return _times(instance, low)


def is_within_limits(instance: Instance) -> bool:
    """Return whether the instance can be compiled."""
    try:
        compile_problem(instance)
    except InputError:
        return False
    return True


def _times(instance: Instance, factor: int) -> Instance:
    """Multiply rates and linear costs, not the matrix."""
    by_level = replace(instance, cluster=replace(instance.cluster, matrix=None))
    changed = _with_costs(by_level, lambda number: number * factor)
    return replace(changed, cluster=instance.cluster)


def _rounding(places: int) -> Change:
    step = Decimal(1).scaleb(-places)
    return lambda number: number.quantize(step) if number % step else number


def _with_costs(instance: Instance, change: Change) -> Instance:
    """Change every rate, size of tuples, linear cost and entry of the matrix."""
    cluster = instance.cluster
    if cluster.matrix is not None:
        rows = tuple(tuple(change(number) for number in row) for row in cluster.matrix)
        cluster = replace(cluster, matrix=rows)
    return replace(
        instance,
        cluster=cluster,
        topologies=tuple(_with_rates(t, change) for t in instance.topologies),
        linear=tuple(replace(row, cost=change(row.cost)) for row in instance.linear),
    )


def _with_rates(topology: Topology, change: Change) -> Topology:
    streams = [
        stream if stream.rate is None else replace(stream, rate=change(stream.rate))
        for stream in topology.streams
    ]
    return replace(topology, streams=tuple(streams))


def _with_wide_resources(choose: Chooser, instance: Instance) -> Instance:
    """Multiply each dimension, so that the same fits where it did; at times by a hair more room."""
    dims = {dimension(key) for node in instance.cluster.nodes for key in node.resources}
    for topology in instance.topologies:
        dims |= {dimension(k) for c in topology.placed_components for k in c.resources}
    factors = {key: Decimal(pick(choose, FACTORS)) for key in sorted(dims | {"cpu", "memory_mb"})}

    def times(resources: dict[str, Decimal]) -> dict[str, Decimal]:
        return {key: value * factors[dimension(key)] for key, value in resources.items()}

    nodes = []
    for node in instance.cluster.nodes:
        spare = FINEST * choose.whole(0, 1)
        room = {
            key: None if value is None else value * factors[key] + spare
            for key, value in node.resources.items()
        }
        nodes.append(replace(node, resources=room))
    memory = factors["memory_mb"]
    topologies = []
    for topology in instance.topologies:
        heap, ackers = topology.worker_max_heap_mb, topology.ackers
        topologies.append(
            replace(
                topology,
                components=tuple(
                    replace(c, resources=times(dict(c.resources))) for c in topology.components
                ),
                worker_max_heap_mb=None if heap is None else heap * memory,
                shared_memory=tuple(replace(r, mb=r.mb * memory) for r in topology.shared_memory),
                ackers=ackers and replace(ackers, resources=times(dict(ackers.resources))),
            )
        )
    least = instance.scheduler.worker_min_cpu * factors["cpu"]
    changed = replace(
        instance,
        cluster=replace(instance.cluster, nodes=tuple(nodes)),
        topologies=tuple(topologies),
        scheduler=replace(instance.scheduler, worker_min_cpu=least),
    )
    return changed if is_within_limits(changed) else instance
