"""Topologies: components, streams and the rules a topology sets for its own placement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated

from slotwise.models.display import listed
from slotwise.models.errors import InputError
from slotwise.models.nouns import (
    SPARSE,
    Allowed,
    Flag,
    Name,
    Noun,
    Number,
    Positive,
    Whole,
    check_fields,
    choice,
)
from slotwise.models.values import distinct, one_of

KINDS = ("spout", "bolt", "system")
GROUPINGS = (
    "shuffle",
    "local_or_shuffle",
    "fields",
    "all",
    "global",
    "direct",
    "none",
    "custom",
)
_GROUPINGS_OF_STORM = {
    **{one.replace("_", ""): one for one in GROUPINGS},
    "customobject": "custom",
    "customserialized": "custom",
    "partialkey": "custom",
}
"""A name in Storm's files and code, without its separators -> the same in `GROUPINGS`."""
SHARED_KINDS = ("onheap", "offheap_worker", "offheap_node")
MEMORY_PARTS = ("onheap_mb", "offheap_mb")
STREAM_WEIGHTS = ("rate", "tuple_bytes")


def _estimated(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of estimated numbers sorted; each stands once."""
    distinct(names, "")
    return tuple(sorted(names))


def _demands(resources: Mapping[str, Decimal]) -> Mapping[str, Decimal]:
    if "memory_mb" in resources:
        raise InputError(
            "a task's memory is written as onheap_mb and offheap_mb",
            field="memory_mb",
            value=resources["memory_mb"],
        )
    return resources


Demands = Annotated[Mapping[Name, Number], _demands]
Estimated = Annotated[tuple[Name, ...], _estimated]


@dataclass(frozen=True, slots=True)
class Component(Noun):
    """A spout or bolt: `parallelism` interchangeable tasks with one demand each.

    Parameters
    ----------
    id
        Unique in the topology.
    kind
        ``spout``, ``bolt``, or ``system`` for tasks of the stream processor itself.
    parallelism
        Number of its tasks (Storm's executors), 0 or more.
    resources
        Demand of one task by resource: ``cpu`` in points (100 = one core), ``onheap_mb`` and
        ``offheap_mb`` in MB, or any other name; absent = 0.
    estimated
        Resources whose demand ``measure`` estimated because the logs do not tell; no rule.
    rate
        Of a spout: tuples per second that its tasks emit together, each task equally many; with a
        `window` of the topology, at most; ``None`` = not known, or, with a `window`, as many as it
        allows. Only predictions and ``bottleneck`` read it.
    service_ms
        Mean time to process a tuple on a core of 100 points, of a spout to emit one, without
        serialisation; ``None`` = not known. Only predictions and ``bottleneck`` read it.
    service_scv
        Squared coefficient of variation of that time, its variance over the square of its mean: 0
        = always the same, 1 = exponentially distributed; ``None`` = not known. Only predictions
        read it.
    """

    id: Name
    kind: Annotated[str, choice(KINDS)]
    parallelism: Whole
    resources: Demands = field(default_factory=dict)
    estimated: Estimated = field(default=(), metadata=SPARSE)
    rate: Number | None = field(default=None, metadata=SPARSE)
    service_ms: Number | None = field(default=None, metadata=SPARSE)
    service_scv: Number | None = field(default=None, metadata=SPARSE)

    def __post_init__(self) -> None:
        """Check each field, and that only a spout has a rate."""
        check_fields(self)
        if self.rate is not None and self.kind != "spout":
            rule = "only a spout has one; what others send follows from the selectivity of streams"
            raise InputError(rule, field="rate", value=self.rate)


def grouping_name(written: str) -> str:
    """Return the grouping of `GROUPINGS` that is written in any of Storm's spellings.

    ``LOCAL_OR_SHUFFLE`` (Flux), ``localOrShuffle`` and ``localOrShuffleGrouping`` (Java),
    ``:local-or-shuffle`` (Clojure); ``custom_serialized``, ``custom_object`` and Storm's
    ``partialKeyGrouping`` are custom ones.

    Raises
    ------
    InputError
        When it is not one of Storm's groupings.
    """
    if written in GROUPINGS:
        return written
    bare = re.sub("[_ -]", "", written.removeprefix(":")).lower().removesuffix("grouping")
    name = _GROUPINGS_OF_STORM.get(bare, written)
    one_of(name, GROUPINGS, "")
    return name


@dataclass(frozen=True, slots=True)
class Stream(Noun):
    """Tuples that flow from the tasks of `source` to those of `target`.

    Parameters
    ----------
    source
        Component that sends.
    target
        Component that receives.
    grouping
        How tuples are dealt to the receiver's tasks; it counts only where the instance's ``flow``
        is ``rates``. Storm's other spellings (``localOrShuffle``, ``LOCAL_OR_SHUFFLE``) are read,
        too.
    rate
        Tuples per second of the whole stream; ``None`` = unknown, which ``flow: rates`` refuses.
    tuple_bytes
        Bytes of a tuple; ``None`` = 1, so that the rate is the flow.
    estimated
        Which of ``rate`` and ``tuple_bytes`` ``measure`` estimated because the logs do not tell; no
        rule.
    selectivity
        Tuples sent per tuple that the sender receives, of a spout per tuple that it emits; ``None``
        = `rate` over what the sender receives or emits. Only predictions and
        ``bottleneck`` read it.
    """

    source: Name = field(metadata={"alias": "from"})
    target: Name = field(metadata={"alias": "to"})
    grouping: Annotated[str, Allowed(grouping_name, choice(GROUPINGS).schema)] = "shuffle"
    rate: Number | None = None
    tuple_bytes: Number | None = None
    estimated: Annotated[tuple[Annotated[str, choice(STREAM_WEIGHTS)], ...], _estimated] = field(
        default=(), metadata=SPARSE
    )
    selectivity: Number | None = field(default=None, metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class SharedMemory(Noun):
    """A memory region that tasks of several components share.

    RAS: SharedOnHeap, SharedOffHeapWithinWorker, SharedOffHeapWithinNode.

    Parameters
    ----------
    id
        Unique in the topology.
    kind
        ``onheap`` and ``offheap_worker`` count once per worker, ``offheap_node`` once per node,
        wherever a task of `components` runs; ``onheap`` counts in the heap too.
    mb
        Size in MB.
    components
        Whose tasks share it.
    """

    id: Name
    kind: Annotated[str, choice(SHARED_KINDS)]
    mb: Number
    components: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check each field."""
        check_fields(self)
        distinct(self.components, "components")


@dataclass(frozen=True, slots=True)
class Constraints(Noun):
    """Rules between components.

    Parameters
    ----------
    incompatible
        Pairs of components that may not share a worker; a component paired with itself has at most
        one task in a worker.
    max_per_node
        Most tasks of a component on one node, 1 or more, by component; absent = no limit.
    """

    incompatible: tuple[tuple[str, str], ...] = ()
    max_per_node: Mapping[str, Positive] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check each field."""
        check_fields(self)
        for index, pair in enumerate(self.incompatible):
            if len(pair) != 2:
                raise InputError("must be a pair", field=f"incompatible[{index}]", value=pair)


@dataclass(frozen=True, slots=True)
class Ackers(Noun):
    """Storm's acker tasks, of a component ``__acker`` without streams.

    Parameters
    ----------
    count
        Number of tasks of the component ``__acker``, 0 or more.
    per_worker
        How many Storm's scheduler binds to a new worker, 1 or more; no rule.
    resources
        Demand of one acker, as of a component's task.
    estimated
        Resources whose demand ``measure`` estimated because the logs do not tell; no rule.
    service_ms
        Mean time to process a message on a core of 100 points, as of a component's task; ``None``
        = not known. Only predictions and ``bottleneck`` read it.
    service_scv
        Squared coefficient of variation of that time, as of a component's task; ``None`` = not
        known. Only predictions read it.
    message_bytes
        Bytes of a message to or from an acker; ``None`` = not known. Only predictions and
        ``bottleneck`` read it.
    """

    count: Whole
    per_worker: Positive = 1
    resources: Demands = field(default_factory=dict)
    estimated: Estimated = field(default=(), metadata=SPARSE)
    service_ms: Number | None = field(default=None, metadata=SPARSE)
    service_scv: Number | None = field(default=None, metadata=SPARSE)
    message_bytes: Number | None = field(default=None, metadata=SPARSE)


@dataclass(frozen=True, slots=True)
class RasSettings(Noun):
    """What the strategies of Storm's Resource Aware Scheduler also read; no rule of the problem.

    Parameters
    ----------
    order_by_proximity
        Tasks are ordered by nearness in the graph, not by connections
        (``topology.ras.order.executors.by.proximity.needs``).
    isolated_machines
        Most nodes that ``ras-round-robin`` uses, 1 or more (``topology.isolate.machines``);
        ``None`` = no limit.
    max_states
        Most assignments that a strategy's search tries, 0 or more
        (``topology.ras.constraint.max.state.search``).
    max_seconds
        Longest search, whole seconds (``topology.ras.constraint.max.time.secs``); ``None`` = the
        scheduler's own limit, 0 = no limit until the scheduler stops the search.
    """

    order_by_proximity: Flag = False
    isolated_machines: Positive | None = None
    max_states: Whole = 10_000
    max_seconds: Whole | None = None


@dataclass(frozen=True, slots=True)
class Topology(Noun):
    """A directed graph of components joined by streams; cycles are allowed.

    Parameters
    ----------
    id
        Unique in the instance.
    components
        Spouts and bolts, without ackers.
    streams
        Which component sends to which; cycles are allowed.
    owner
        The user who owns it, for ``scheduler.pools``.
    priority
        0 is the highest; it weighs the term ``rejected`` and orders rounds.
    launch_time
        Seconds; orders topologies of equal priority in rounds.
    strategy
        Storm's strategy that places it; ``None`` = Storm's default.
    worker_max_heap_mb
        Most on-heap memory of one worker, MB; ``None`` = no limit.
    workers
        Number of workers that round robin uses, 1 or more; ``None`` = one per node.
    favored_nodes
        Nodes or hosts that Storm's strategies try first; no rule. They need not exist.
    unfavored_nodes
        Nodes or hosts that Storm's strategies try last; no rule. They need not exist.
    constraints
        Rules that its components set.
    one_task_per_worker
        A worker holds at most one task of the topology.
    one_component_per_worker
        A worker holds tasks of one component only.
    shared_memory
        Memory regions that tasks share.
    ackers
        Acker tasks, which take room and have no streams: ``network`` does not count their messages;
        ``None`` = none.
    ras
        Other settings of Storm's strategies; no rule.
    window
        Most tuples of each spout task in flight, 1 or more (``topology.max.spout.pending``): from
        emission until all that follows from them is processed and, where they are acked,
        acknowledged; ``None`` = no limit. Only predictions read it.
    acked
        Whether ackers track the tuples, which needs `ackers`; ``None`` = where there are ackers.
        Only predictions and ``bottleneck`` read it.

    Examples
    --------
    >>> Topology("t", (Component("a", "spout", 2), Component("b", "bolt", 1)), (Stream("a", "b"),))
    Topology t: a[2], b[1]
    """

    LAST = ("components", "streams", "ras")

    id: Name
    components: tuple[Component, ...]
    streams: tuple[Stream, ...] = ()
    owner: str = ""
    priority: Whole = 29
    launch_time: Whole = 0
    strategy: str | None = None
    worker_max_heap_mb: Number | None = None
    workers: Positive | None = None
    favored_nodes: tuple[str, ...] = ()
    unfavored_nodes: tuple[str, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    one_task_per_worker: Flag = False
    one_component_per_worker: Flag = False
    shared_memory: tuple[SharedMemory, ...] = ()
    ackers: Ackers | None = None
    ras: RasSettings = field(default_factory=RasSettings, metadata=SPARSE)
    window: Positive | None = field(default=None, metadata=SPARSE)
    acked: Flag | None = field(default=None, metadata=SPARSE)

    def __post_init__(self) -> None:
        """Check each field, then the references between them."""
        check_fields(self)
        ids = [component.id for component in self.components]
        distinct(ids, "components[].id")
        if self.ackers is not None and ACKER in ids:
            raise InputError(
                "is made from `ackers`; give one of the two",
                field=f"components[{ids.index(ACKER)}].id",
                value=ACKER,
            )
        if self.acked and (self.ackers is None or not self.ackers.count):
            raise InputError("needs `ackers` that track the tuples", field="acked", value=True)
        distinct((region.id for region in self.shared_memory), "shared_memory[].id")
        known = {component.id for component in self.placed_components}
        for key, where in self._references():
            if key not in known:
                rule = f"must be a component of topology {self.id!r}"
                raise InputError(rule, field=where, value=key)

    def _references(self) -> Iterator[tuple[str, str]]:
        """Yield the component ids in streams and rules, with their fields."""
        for i, stream in enumerate(self.streams):
            yield stream.source, f"streams[{i}].from"
            yield stream.target, f"streams[{i}].to"
        for i, pair in enumerate(self.constraints.incompatible):
            yield from ((key, f"constraints.incompatible[{i}]") for key in pair)
        for key in self.constraints.max_per_node:
            yield key, "constraints.max_per_node"
        for i, region in enumerate(self.shared_memory):
            yield from ((key, f"shared_memory[{i}].components") for key in region.components)

    def __repr__(self) -> str:
        """One line: the components with their numbers of tasks."""
        named = [f"{one.id}[{one.parallelism}]" for one in self.placed_components]
        return f"Topology {self.id}: {listed(named) or 'no components'}"

    @property
    def placed_components(self) -> tuple[Component, ...]:
        """The components that have tasks to place: the user's, then ``__acker`` if any."""
        if self.ackers is None:
            return self.components
        ackers = self.ackers
        acker = Component(
            ACKER,
            "system",
            ackers.count,
            ackers.resources,
            ackers.estimated,
            service_ms=ackers.service_ms,
            service_scv=ackers.service_scv,
        )
        return (*self.components, acker)


# Names that have a meaning of their own in an instance.

ACKER = "__acker"
"""Component id of the tasks of a topology's `ackers`."""
