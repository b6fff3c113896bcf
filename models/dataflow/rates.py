"""GetRate of the article (section 6): the input rate of every task."""

from __future__ import annotations

from fractions import Fraction

from slotwise.models.dataflow.dataflow import Dataflow


def input_rates(dataflow: Dataflow, rate: Fraction) -> dict[str, Fraction]:
    """Return task name -> input rate, tuples/s.

    Each task without an incoming stream takes in `rate`; each other one the sum, over its incoming
    streams, of the input rate of their source times their selectivity.
    """
    import networkx as nx

    graph = dataflow.graph()
    rates: dict[str, Fraction] = {}
    for name in nx.topological_sort(graph):
        sources = list(graph.predecessors(name))
        rates[name] = sum(
            (rates[one] * graph.edges[one, name]["selectivity"] for one in sources), Fraction(0)
        )
        if not sources:
            rates[name] = rate
    return rates
