"""Dataflows: a DAG of tasks with selectivities, and the rate of each task.

A dataflow knows neither threads nor machines; an allocation (`models.allocation`) decides them.

Source: Shukla and Simmhan, *Model-driven Scheduling for Distributed Stream Processing Systems*,
sections 3 and 6; its micro DAGs are in `models.micro_dags`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.text import read_data
from slotwise.models.formats.validation import validated
from slotwise.models.nouns import Exact, Name, Noun, check_fields

if TYPE_CHECKING:
    import networkx as nx  # Where it is used: rows of a grading need the names of pairs alone.

# A dataflow: tasks, each of a kind that has a performance model, and streams between them.


@dataclass(frozen=True, slots=True)
class DataflowTask(Noun):
    """A vertex of the DAG.

    Parameters
    ----------
    name
        Unique in its dataflow.
    model
        Name of its performance model; ``None`` for a source or sink that runs outside the slots
        that are allocated.
    """

    name: Name
    model: Name | None


@dataclass(frozen=True, slots=True)
class Stream(Noun):
    """An edge of the DAG.

    Parameters
    ----------
    source
        Task that sends.
    target
        Task that receives.
    selectivity
        Tuples sent for each tuple that the sender takes in.
    """

    source: Name = field(metadata={"alias": "from"})
    target: Name = field(metadata={"alias": "to"})
    selectivity: Exact = Fraction(1)


@dataclass(frozen=True, slots=True)
class Dataflow(Noun):
    """A DAG of tasks.

    Parameters
    ----------
    name
        For people.
    tasks
        The vertices of the DAG.
    streams
        Its edges, at most one between two tasks; no cycles.

    Raises
    ------
    InputError
        For a name used twice, an unknown task, a negative selectivity, or a cycle.
    """

    FORMAT = "slotwise.dataflow/1"

    name: Name
    tasks: tuple[DataflowTask, ...]
    streams: tuple[Stream, ...]

    def __post_init__(self) -> None:
        """Raise unless the streams form a DAG."""
        check_fields(self)
        counts = Counter(task.name for task in self.tasks)
        for name, count in counts.items():
            if count > 1:
                raise InputError("must be unique", field="tasks", value=name)
        pairs: set[tuple[str, str]] = set()
        for index, stream in enumerate(self.streams):
            field = f"streams[{index}]"
            for end in (stream.source, stream.target):
                if end not in counts:
                    raise InputError("must be a task of this dataflow", field=field, value=end)
            if (stream.source, stream.target) in pairs:
                raise InputError(
                    "occurs twice; give one stream with the sum of the selectivities",
                    field=field,
                    value=f"{stream.source} -> {stream.target}",
                )
            pairs.add((stream.source, stream.target))
        import networkx as nx

        graph = self.graph()
        if not nx.is_directed_acyclic_graph(graph):
            cycle = " -> ".join(str(edge[0]) for edge in nx.find_cycle(graph))
            raise InputError("must be acyclic", field="streams", value=cycle)

    def graph(self) -> nx.DiGraph[str]:
        """Return the DAG as a graph of task names, edges with their ``selectivity``."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(task.name for task in self.tasks)
        graph.add_edges_from(
            (one.source, one.target, {"selectivity": one.selectivity}) for one in self.streams
        )
        return graph

    @property
    def allocated(self) -> tuple[DataflowTask, ...]:
        """The tasks that have a performance model, in topological order (ties as listed)."""
        import networkx as nx

        place = {task.name: index for index, task in enumerate(self.tasks)}
        order = nx.lexicographical_topological_sort(self.graph(), key=lambda name: place[name])
        by_name = {task.name: task for task in self.tasks}
        return tuple(task for task in map(by_name.__getitem__, order) if task.model is not None)


# Reading dataflows: JSON or YAML.


def read_dataflow(source: str | Path) -> Dataflow:
    """Return the dataflow of a file; ``-`` = stdin.

    Raises
    ------
    InputError
        One line: file, field, value, rule; so also for a cycle.
    """
    data, file = read_data(source)
    with in_file(file):
        return dataflow_from_data(data)


def dataflow_from_data(data: Any) -> Dataflow:
    """Return the dataflow in the data of a file."""
    return validated(Dataflow, data)


# GetRate of the article (section 6): the input rate of every task.


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
