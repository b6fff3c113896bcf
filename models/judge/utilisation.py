"""The highest utilisation of any cpu, network interface or uplink, exactly.

Tasks of one component in one worker are interchangeable, so amounts are those of a component in a
worker. Threads of tasks are not resources here (`models.problem.workload`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from slotwise.models.errors import InternalError
from slotwise.models.judge.accounting import Accounting, Workers
from slotwise.models.problem.problem import Problem
from slotwise.models.problem.workload import LOCAL, Emission, Workload

Amounts = list[Fraction]
"""One per worker, node or rack."""


def bottleneck(problem: Problem, workload: Workload, accounting: Accounting) -> int:
    """Return the highest utilisation in steps of the part; 0 where nothing flows."""
    steps = _highest(problem, workload, accounting) / workload.unit
    if steps.denominator != 1:
        raise InternalError(f"the highest utilisation is {steps} steps, which is not whole")
    return steps.numerator


def _highest(problem: Problem, workload: Workload, accounting: Accounting) -> Fraction:
    loads = _Loads(problem, workload)
    for t, workers in enumerate(accounting.topologies):
        if workers.placed:
            loads.add(t, workers)
    shares = (
        load / offered
        for some, offers in (
            (loads.work, workload.cores),
            (loads.node_out, workload.nic_out),
            (loads.node_in, workload.nic_in),
            (loads.rack_out, workload.uplink),
            (loads.rack_in, workload.uplink),
        )
        for load, offered in zip(some, offers, strict=False)
    )
    return max(shares, default=Fraction(0))


class _Loads:
    """Seconds of a core per second on each node; Mbit/s that leave and enter nodes and racks."""

    def __init__(self, problem: Problem, workload: Workload) -> None:
        self._problem, self._workload = problem, workload
        nodes, racks = problem.node_count, len(problem.racks)
        self.work, self.node_out, self.node_in = (_nothing(nodes) for _ in range(3))
        self.rack_out, self.rack_in = _nothing(racks), _nothing(racks)

    def add(self, topology: int, workers: Workers) -> None:
        """Add what a topology asks."""
        node = workers.node.tolist()
        rack = self._problem.node_rack[workers.node].tolist()
        counts = self._counts(workers)
        received = self._received(topology, workers, counts)
        for c, amounts in received.items():
            service = self._workload.receivers[c].service
            for n, amount in zip(node, amounts, strict=True):
                self.work[n] += amount * service
        for emission in self._workload.emissions:
            if emission.source in received:
                sent = self._emitted(emission, counts, received)
                to = self._reached(emission, workers, counts)
                self._send(emission, sent, to, (node, rack))

    def _counts(self, workers: Workers) -> dict[int, list[int]]:
        """Return component -> its tasks in each worker."""
        sums: dict[int, list[int]] = {}
        for column, k in enumerate(workers.classes.tolist()):
            more = workers.counts[:, column].tolist()
            c = self._problem.classes[k].component
            sums[c] = [a + b for a, b in zip(sums.get(c, [0] * len(more)), more, strict=True)]
        return sums

    def _first(self, component: int, workers: Workers) -> list[int]:
        """Return 1 for the worker that has the first task of a component, 0 for the others."""
        column = int(np.searchsorted(workers.classes, self._workload.first[component]))
        return [int(count) for count in workers.counts[:, column].tolist()]

    def _received(
        self, topology: int, workers: Workers, counts: dict[int, list[int]]
    ) -> dict[int, Amounts]:
        """Return component -> what its tasks in each worker receive."""
        received: dict[int, Amounts] = {}
        for c, one in self._workload.receivers.items():
            if one.topology != topology:
                continue
            amounts = [count * one.even for count in counts[c]]
            if one.first:
                first = self._first(c, workers)
                amounts = [a + one.first * b for a, b in zip(amounts, first, strict=True)]
            for emission in self._workload.emissions:
                if emission.target == c and emission.grouping == LOCAL:
                    sent = self._emitted(emission, counts, received)
                    dealt = sum(
                        (x for x, count in zip(sent, counts[c], strict=True) if not count),
                        Fraction(0),
                    )
                    each = dealt / one.tasks
                    for g, count in enumerate(counts[c]):
                        amounts[g] += each * count + (sent[g] if count else 0)
            received[c] = amounts
        return received

    def _emitted(
        self, emission: Emission, counts: dict[int, list[int]], received: dict[int, Amounts]
    ) -> Amounts:
        """Return what is sent from each worker."""
        if emission.selectivity is None:
            each = emission.rate / self._workload.receivers[emission.source].tasks
            return [each * count for count in counts[emission.source]]
        return [amount * emission.selectivity for amount in received[emission.source]]

    def _reached(
        self, emission: Emission, workers: Workers, counts: dict[int, list[int]]
    ) -> list[int]:
        """Return the tasks in each worker that an emission reaches."""
        if emission.grouping == "global":
            return self._first(emission.target, workers)
        return counts[emission.target]

    def _send(
        self, emission: Emission, sent: Amounts, to: list[int], where: tuple[list[int], list[int]]
    ) -> None:
        """Add what sending asks of cpus and the network; `where` each worker is: node and rack."""
        node, rack = where
        on_node, in_rack = _summed(to, node), _summed(to, rack)
        in_all = sum(to)
        dealt = list(sent)
        for g, (amount, n, r) in enumerate(zip(sent, node, rack, strict=True)):
            reach = (to[g], on_node[n], in_rack[r], in_all)
            if emission.grouping == LOCAL and to[g]:
                dealt[g] = Fraction(0)
                reach, share = (1, 1, 1, 1), amount
            else:
                share = amount / emission.shares
            levels = zip(reach, (0, *reach), self._workload.serialise, strict=False)
            self.work[n] += share * sum(
                (wide - narrow) * seconds for wide, narrow, seconds in levels
            )
        for places, there, out, into in (
            (node, on_node, self.node_out, self.node_in),
            (rack, in_rack, self.rack_out, self.rack_in),
        ):
            leaving: dict[int, Fraction] = {}
            for amount, place in zip(dealt, places, strict=True):
                leaving[place] = (
                    leaving.get(place, Fraction(0)) + amount * emission.megabits / emission.shares
                )
            total = sum(leaving.values(), Fraction(0))
            for place, count in there.items():
                out[place] += leaving[place] * (in_all - count)
                into[place] += (total - leaving[place]) * count


def _nothing(count: int) -> Amounts:
    return [Fraction(0)] * count


def _summed(counts: Sequence[int], places: Sequence[int]) -> dict[int, int]:
    """Return place -> sum of the counts of workers there."""
    tasks = dict.fromkeys(places, 0)
    for count, place in zip(counts, places, strict=True):
        tasks[place] += count
    return tasks
