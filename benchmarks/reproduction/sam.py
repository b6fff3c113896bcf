"""The figures of the SAM article, computed again.

Each function of `QUANTITIES` computes one kind of figure; its arguments stand in
``data/sam.json``. The VMs are those of the article's experiments: D1 to D3 in section 8.4, five D3
in section 8.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from statistics import median

import networkx as nx

from slotwise.benchmarks.reproduction.figure import Article, Reproduced, read_article
from slotwise.heuristics.sam.fixed_vms import highest_planned
from slotwise.heuristics.sam.pairs import PAIRS, Planned, plan
from slotwise.models.allocation.load import Routing, slot_loads, task_demands
from slotwise.models.allocation.plan import ARTICLE_VMS, AZURE_D, Bundle, TaskAllocation, Vm
from slotwise.models.allocation.prediction import predict, slot_usage, vm_usage
from slotwise.models.dataflow import input_rates
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models
from slotwise.models.performance.model import Interpolation, full_bundle, measured_at

Values = tuple[Fraction, ...]

RATES = (50, 100, 200)
"""Of section 8.4."""

FIVE_D3 = tuple(Vm(f"vm{number}", AZURE_D[2]) for number in range(1, 6))
"""Of section 8.5."""


def article() -> Article:
    """Return the published figures."""
    return read_article("sam")


def reproduce(published: Article) -> list[Reproduced]:
    """Return every figure with ours."""
    return [
        Reproduced(figure, QUANTITIES[figure.quantity](**figure.of)) for figure in published.figures
    ]


@cache
def _made(dag: str, rate: int, pair: str) -> Planned:
    """Return a pair's plan in section 8.4."""
    planned = plan(
        MICRO_DAGS[dag], article_models(), Fraction(rate), PAIRS[pair], vm_sizes=ARTICLE_VMS
    )
    assert isinstance(planned, Planned)
    return planned


@cache
def _highest(dag: str, pair: str) -> Planned:
    """Return a pair's plan for the highest rate on five D3 in section 8.5."""
    planned = highest_planned(MICRO_DAGS[dag], article_models(), PAIRS[pair], FIVE_D3)
    assert isinstance(planned, Planned)
    return planned


def _bundles(planned: Planned, task: str) -> list[Bundle]:
    return [one for slot in planned.plan.slots for one in slot.bundles if one.task == task]


def _whole(*numbers: int) -> Values:
    return tuple(map(Fraction, numbers))


def peak_rate(task: str, threads: int) -> Values:
    """Tuples/s of a number of threads of a task on one slot."""
    return (measured_at(article_models()[task], threads).peak_rate,)


def cpu(task: str, threads: int) -> Values:
    """CPU of a number of threads of a task on one slot at their peak rate, %."""
    return (measured_at(article_models()[task], threads).cpu,)


def memory(task: str, threads: int) -> Values:
    """Memory likewise, %."""
    return (measured_at(article_models()[task], threads).memory,)


def scaled_cpu(task: str, rate: int) -> Values:
    """CPU of one thread at a rate below its peak, in proportion, %."""
    measurement = measured_at(article_models()[task], 1)
    return (measurement.cpu * rate / measurement.peak_rate,)


def left_by_single_threads(task: str, count: int) -> Values:
    """Memory that a number of threads leaves of a slot if each needs what one alone does, %."""
    return (100 - count * measured_at(article_models()[task], 1).memory,)


def threads_of_full_bundle(task: str) -> Values:
    """Threads of a full bundle."""
    return _whole(full_bundle(article_models()[task]).threads)


def supported(task: str, bundles: Sequence[int], interpolation: str) -> Values:
    """Tuples/s that bundles of these numbers of threads, each on a slot, support together."""
    how = Interpolation(interpolation)
    model = article_models()[task]
    return (sum((measured_at(model, one, how).peak_rate for one in bundles), Fraction(0)),)


def vm_slots() -> Values:
    """Slots of D1 to D4."""
    return _whole(*(size.slots for size in AZURE_D))


def vm_prices() -> Values:
    """Prices of D1 to D4, USD per hour."""
    return tuple(size.price for size in AZURE_D)


def estimates(dag: str, rates: Sequence[int], pair: str) -> Values:
    """Slots that the allocation estimates, at each rate."""
    return _whole(*(_made(dag, rate, pair).estimate for rate in rates))


def needed(dag: str, rates: Sequence[int], pair: str) -> Values:
    """Slots on which the mapping succeeds, at each rate."""
    return _whole(*(_made(dag, rate, pair).needed for rate in rates))


def added(dag: str, rate: int, pair: str) -> Values:
    """Slots that the mapping adds to the estimate."""
    planned = _made(dag, rate, pair)
    return _whole(planned.needed - planned.estimate)


def more_slots(pair: str) -> Values:
    """Of the nine cases of section 8.4, how many have slots added."""
    return _whole(sum(added(dag, rate, pair)[0] > 0 for dag in MICRO_DAGS for rate in RATES))


def threads(dag: str, rate: int, pair: str, tasks: Sequence[str]) -> Values:
    """Threads of each task."""
    allocation = _made(dag, rate, pair).allocation
    return _whole(*(allocation[task].threads for task in tasks))


def _allocations(dag: str, rate: int, pair: str, task: str | None) -> list[TaskAllocation]:
    allocation: Mapping[str, TaskAllocation] = _made(dag, rate, pair).allocation
    return [one for name, one in allocation.items() if task in (None, name)]


def use_of_cpu(dag: str, rate: int, pair: str, task: str | None = None) -> Values:
    """CPU that the allocation gives a task, or all tasks, %."""
    return (sum((one.cpu for one in _allocations(dag, rate, pair, task)), Fraction(0)),)


def use_of_memory(dag: str, rate: int, pair: str, task: str | None = None) -> Values:
    """Memory likewise, %."""
    return (sum((one.memory for one in _allocations(dag, rate, pair, task)), Fraction(0)),)


def uses(dag: str, rate: int, pair: str, task: str | None = None) -> Values:
    """CPU and memory likewise, %."""
    return use_of_cpu(dag, rate, pair, task) + use_of_memory(dag, rate, pair, task)


def unrounded(dag: str, rates: Sequence[int], pair: str) -> Values:
    """Slots that the allocation estimates, not rounded up, at each rate."""
    return tuple(max(uses(dag, rate, pair)) / 100 for rate in rates)


def spread(dag: str, rate: int, pair: str, task: str) -> Values:
    """Threads of a task on each slot that has any, the most first."""
    counts = [one.threads for one in _bundles(_made(dag, rate, pair), task)]
    return _whole(*sorted(counts, reverse=True))


def bundle_peaks(dag: str, rate: int, pair: str, task: str) -> Values:
    """Tuples/s that these slots support, in the same order."""
    return tuple(peak_rate(task, int(count))[0] for count in spread(dag, rate, pair, task))


def shuffle_shares(dag: str, rate: int, pair: str, task: str) -> Values:
    """Tuples/s that shuffle grouping sends these slots, in the same order."""
    demands = task_demands(MICRO_DAGS[dag], article_models(), Fraction(rate))
    loads = slot_loads(_made(dag, rate, pair).plan, demands, Routing.SHUFFLE)
    rates = [one.rate for load in loads for one in load.bundles if one.bundle.task == task]
    return tuple(sorted(rates, reverse=True))


def planned(dag: str, pair: str) -> Values:
    """Highest rate that a pair plans on five D3, tuples/s."""
    return (_highest(dag, pair).plan.rate,)


def predicted(dag: str, pair: str, interpolation: str) -> Values:
    """Rate that this plan supports if every slot receives what it supports, tuples/s."""
    prediction = predict(
        _highest(dag, pair).plan,
        MICRO_DAGS[dag],
        article_models(),
        Routing.SLOT_AWARE,
        interpolation=Interpolation(interpolation),
    )
    assert prediction.rate is not None
    return (prediction.rate,)


def planned_threads(dag: str, pair: str, task: str) -> Values:
    """Threads of a task in this plan."""
    return _whole(_highest(dag, pair).plan.threads[task])


def rate_of_task(dag: str, pair: str, task: str) -> Values:
    """Tuples/s that a task receives at the rate of this plan."""
    return (input_rates(MICRO_DAGS[dag], _highest(dag, pair).plan.rate)[task],)


def fewest_on_a_slot(dag: str, pair: str, task: str) -> Values:
    """Fewest threads of a task on a slot that has any in this plan."""
    return _whole(min(one.threads for one in _bundles(_highest(dag, pair), task)))


def slots_with(dag: str, pair: str, task: str, least: int, most: int) -> Values:
    """Slots of this plan with `least` to `most` threads of a task."""
    counts = [one.threads for one in _bundles(_highest(dag, pair), task)]
    return _whole(sum(least <= count <= most for count in counts))


def supported_rate(dag: str, rate: int, pair: str, routing: str) -> Values:
    """Tuples/s, at most the planned ones, that a plan of section 8.4 supports."""
    planned = _made(dag, rate, pair)
    return (_supported(planned, dag, Routing(routing)),)


def shuffled(dag: str, pair: str) -> Values:
    """Tuples/s, at most the planned ones, that the plan on five D3 supports under shuffle."""
    return (_supported(_highest(dag, pair), dag, Routing.SHUFFLE),)


def _supported(planned: Planned, dag: str, routing: Routing) -> Fraction:
    prediction = predict(planned.plan, MICRO_DAGS[dag], article_models(), routing)
    assert prediction.rate is not None
    return min(planned.plan.rate, prediction.rate)


def shortfall(pair: str) -> Values:
    """Largest part of the planned rate that shuffle grouping leaves unsupported, %."""
    short = [
        100 * (1 - supported_rate(dag, rate, pair, Routing.SHUFFLE)[0] / rate)
        for dag in MICRO_DAGS
        for rate in RATES
    ]
    return (max(short),)


def _cpu_of_vms(dag: str, pair: str, routing: Routing) -> list[Fraction]:
    """Return the mean CPU of a slot of each of five D3, %, at the rate that shuffle supports."""
    planned = _highest(dag, pair)
    usage = slot_usage(
        planned.plan, MICRO_DAGS[dag], article_models(), routing, shuffled(dag, pair)[0]
    )
    return [
        one.cpu / vm.size.slots
        for vm, one in zip(FIVE_D3, vm_usage(planned.plan, usage).values(), strict=True)
    ]


def mean_cpu(pairs: Sequence[str]) -> Values:
    """Least and most mean CPU of the VMs over the DAGs and some pairs, %."""
    means = [
        sum(one, Fraction(0)) / len(one)
        for dag in MICRO_DAGS
        for pair in pairs
        for one in (_cpu_of_vms(dag, pair, Routing.SHUFFLE),)
    ]
    return (min(means), max(means))


def cpu_raised_most(dag: str, pair: str) -> Values:
    """CPU of the VM on which shuffle raises it most, %: routed as planned, and by shuffle."""
    before, after = (_cpu_of_vms(dag, pair, one) for one in (Routing.PLANNED, Routing.SHUFFLE))
    return max(zip(before, after, strict=True), key=lambda one: one[1] - one[0])


def longest_path(dags: Sequence[str]) -> Values:
    """Tasks on the longest path of each DAG, source and sink included."""
    return _whole(*(nx.dag_longest_path_length(_graph(dag)) + 1 for dag in dags))


def latency_ranks(dags: Sequence[str], pair: str) -> Values:
    """Ranks of the DAGs by their latency without waiting, 1 = the lowest."""
    return _ranks([_latency(dag, pair) for dag in dags])


def pair_ranks(pairs: Sequence[str]) -> Values:
    """Ranks of the pairs by the median over the DAGs of that latency, 1 = the lowest."""
    return _ranks([median(_latency(dag, pair) for dag in MICRO_DAGS) for pair in pairs])


def _graph(dag: str) -> nx.DiGraph[str]:
    return nx.DiGraph((one.source, one.target) for one in MICRO_DAGS[dag].streams)


def _latency(dag: str, pair: str) -> Fraction:
    """Return the seconds of a tuple of a plan on five D3 on its longest path, without waiting.

    A bundle of q threads that supports I(q) tuples/s holds each for q / I(q) (Little's law).
    """
    planned = _highest(dag, pair)
    demands = task_demands(MICRO_DAGS[dag], article_models(), planned.plan.rate)
    cpu_by_task: dict[str, Fraction] = {}
    for load in slot_loads(planned.plan, demands, Routing.SHUFFLE):
        for bundle in load.bundles:
            share = Fraction(bundle.bundle.threads, planned.plan.threads[bundle.bundle.task])
            seconds = bundle.bundle.threads / bundle.measured.peak_rate
            cpu_by_task[bundle.bundle.task] = (
                cpu_by_task.get(bundle.bundle.task, Fraction(0)) + share * seconds
            )
    graph = _graph(dag)
    ends: dict[str, Fraction] = {}
    for task in nx.topological_sort(graph):
        before = max((ends[one] for one in graph.predecessors(task)), default=Fraction(0))
        ends[task] = before + cpu_by_task.get(task, Fraction(0))
    return max(ends.values())


def _ranks(values: Sequence[Fraction]) -> Values:
    return _whole(*(1 + sum(other < one for other in values) for one in values))


QUANTITIES: Mapping[str, Callable[..., Values]] = {
    "full_bundle": threads_of_full_bundle,
    **{
        function.__name__: function
        for function in (
            *(peak_rate, cpu, memory, scaled_cpu, left_by_single_threads, supported),
            *(vm_slots, vm_prices, estimates, needed, added, more_slots, threads),
            *(use_of_cpu, use_of_memory, uses, unrounded, spread, bundle_peaks, shuffle_shares),
            *(planned, predicted, planned_threads, rate_of_task, fewest_on_a_slot, slots_with),
            *(supported_rate, shuffled, shortfall, mean_cpu, cpu_raised_most),
            *(longest_path, latency_ranks, pair_ranks),
        )
    },
}
"""Name -> function."""
