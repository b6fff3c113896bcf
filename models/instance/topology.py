"""Topologies: components, streams and the rules a topology sets for its own placement."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from slotwise.models.display import listed
from slotwise.models.errors import InputError
from slotwise.models.instance.demands import demands, estimated_names
from slotwise.models.instance.ras_settings import RasSettings
from slotwise.models.instance.reserved import ACKER
from slotwise.models.instance.topology_checks import References, check_component_ids
from slotwise.models.values import distinct, exact, exact_or_none, name, one_of, whole

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


@dataclass(frozen=True, slots=True)
class Component:
    """A spout or bolt: `parallelism` interchangeable tasks with one demand each.

    Parameters
    ----------
    id
        Unique in the topology.
    kind
        ``spout``, ``bolt`` or ``system``.
    parallelism
        Number of tasks (Storm's executors), 0 or more.
    resources
        Demand of one task: ``cpu`` in points (100 = one core), ``onheap_mb``, ``offheap_mb``
        and any other named dimension; absent means 0.
    estimated
        The resources whose demand was estimated, not measured; no rule of the problem.
    """

    id: str
    kind: str
    parallelism: int
    resources: Mapping[str, Decimal] = field(default_factory=dict)
    estimated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check each field."""
        name(self.id, "id")
        one_of(self.kind, KINDS, "kind")
        whole(self.parallelism, "parallelism")
        object.__setattr__(self, "resources", demands(self.resources, "resources"))
        object.__setattr__(self, "estimated", estimated_names(self.estimated))


@dataclass(frozen=True, slots=True)
class Stream:
    """Tuples that flow from the tasks of `source` to those of `target`.

    Parameters
    ----------
    source, target
        Component ids (``from`` and ``to`` in files).
    grouping
        One of `GROUPINGS`; counts only where the instance's flow is ``rates``. Storm's other
        spellings are read as the same: see `grouping_name`.
    rate
        Tuples per second of the whole stream; ``None`` when unknown.
    tuple_bytes
        Size of a tuple; ``None`` counts as 1, so that the rate itself is the weight.
    estimated
        Which of ``rate`` and ``tuple_bytes`` were estimated, not measured; no rule.
    """

    source: str
    target: str
    grouping: str = "shuffle"
    rate: Decimal | None = None
    tuple_bytes: Decimal | None = None
    estimated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check each field."""
        name(self.source, "from")
        name(self.target, "to")
        object.__setattr__(self, "grouping", grouping_name(self.grouping))
        object.__setattr__(self, "rate", exact_or_none(self.rate, "rate"))
        object.__setattr__(self, "tuple_bytes", exact_or_none(self.tuple_bytes, "tuple_bytes"))
        object.__setattr__(self, "estimated", estimated_names(self.estimated, STREAM_WEIGHTS))


def grouping_name(written: str) -> str:
    """Return the grouping of `GROUPINGS` that is written in any of Storm's spellings.

    ``LOCAL_OR_SHUFFLE`` (Flux), ``localOrShuffle`` and ``localOrShuffleGrouping`` (Java),
    ``:local-or-shuffle`` (Clojure); ``custom_serialized``, ``custom_object`` and Storm's
    ``partialKeyGrouping`` are custom ones.

    Raises
    ------
    InputError
        When it is none of Storm's groupings.
    """
    if written in GROUPINGS:
        return written
    bare = re.sub("[_ -]", "", written.removeprefix(":")).lower().removesuffix("grouping")
    found = _GROUPINGS_OF_STORM.get(bare, written)
    one_of(found, GROUPINGS, "grouping")
    return found


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """A memory region that tasks of several components share.

    Counted once per worker (``onheap``: in the heap too; ``offheap_worker``) or once per node
    and topology (``offheap_node``) wherever a task of `components` runs (RAS: SharedOnHeap,
    SharedOffHeapWithinWorker, SharedOffHeapWithinNode). `mb` in megabytes.
    """

    id: str
    kind: str
    mb: Decimal
    components: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check each field."""
        name(self.id, "id")
        one_of(self.kind, SHARED_KINDS, "kind")
        object.__setattr__(self, "mb", exact(self.mb, "mb"))
        object.__setattr__(self, "components", tuple(self.components))
        distinct(self.components, "components")


@dataclass(frozen=True, slots=True)
class Constraints:
    """Rules between components.

    Parameters
    ----------
    incompatible
        Pairs of components that may not share a worker; a pair (x, x) means at most one task
        of x in a worker.
    max_per_node
        Component id -> most tasks of it on one node, 1 or more.
    """

    incompatible: tuple[tuple[str, str], ...] = ()
    max_per_node: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check each field."""
        pairs = tuple(tuple(pair) for pair in self.incompatible)
        for index, pair in enumerate(pairs):
            if len(pair) != 2:
                raise InputError("must be a pair", field=f"incompatible[{index}]", value=pair)
        object.__setattr__(self, "incompatible", pairs)
        for key, most in self.max_per_node.items():
            whole(most, f"max_per_node.{key}", least=1)
        object.__setattr__(self, "max_per_node", dict(self.max_per_node))


@dataclass(frozen=True, slots=True)
class Ackers:
    """Storm's acker tasks: `count` tasks of a component ``__acker`` without streams.

    `per_worker` is what Storm's RAS binds to each new worker; no rule of the problem. `estimated`
    is as in `Component`.
    """

    count: int
    per_worker: int = 1
    resources: Mapping[str, Decimal] = field(default_factory=dict)
    estimated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check each field."""
        whole(self.count, "count")
        whole(self.per_worker, "per_worker", least=1)
        object.__setattr__(self, "resources", demands(self.resources, "resources"))
        object.__setattr__(self, "estimated", estimated_names(self.estimated))


@dataclass(frozen=True, slots=True)
class Topology:
    """A directed graph of components joined by streams; cycles are allowed.

    Parameters
    ----------
    id
        Unique in the instance.
    components, streams
        Of the user's topology; ackers come on top.
    owner, priority, launch_time, strategy
        As Storm has them: priority 0 is the highest; launch time in seconds.
    worker_max_heap_mb
        Most on-heap memory of one worker, MB; ``None`` = no limit.
    workers
        Worker count that round robin uses; ``None`` = one per node.
    favored_nodes, unfavored_nodes
        Node or host names that RAS tries first or last; no rule of the problem. They need
        not exist in the cluster.
    constraints, shared_memory, ackers
        See `Constraints`, `SharedMemory`, `Ackers`.
    one_task_per_worker, one_component_per_worker
        Isolation rules of a worker; with both, the first decides.
    ras
        See `RasSettings`.

    Examples
    --------
    >>> Topology("t", (Component("a", "spout", 2), Component("b", "bolt", 1)), (Stream("a", "b"),))
    Topology t: a[2], b[1]
    """

    id: str
    components: tuple[Component, ...]
    streams: tuple[Stream, ...] = ()
    owner: str = ""
    priority: int = 29
    launch_time: int = 0
    strategy: str | None = None
    worker_max_heap_mb: Decimal | None = None
    workers: int | None = None
    favored_nodes: tuple[str, ...] = ()
    unfavored_nodes: tuple[str, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    one_task_per_worker: bool = False
    one_component_per_worker: bool = False
    shared_memory: tuple[SharedMemory, ...] = ()
    ackers: Ackers | None = None
    ras: RasSettings = field(default_factory=RasSettings)

    def __post_init__(self) -> None:
        """Check each field, then the references between them."""
        name(self.id, "id")
        for key in ("components", "streams", "favored_nodes", "unfavored_nodes", "shared_memory"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
        whole(self.priority, "priority")
        whole(self.launch_time, "launch_time")
        heap = exact_or_none(self.worker_max_heap_mb, "worker_max_heap_mb")
        object.__setattr__(self, "worker_max_heap_mb", heap)
        if self.workers is not None:
            whole(self.workers, "workers", least=1)
        check_component_ids([c.id for c in self.components], has_ackers=self.ackers is not None)
        references = References(self.id, (c.id for c in self.placed_components))
        references.check_streams((s.source, s.target) for s in self.streams)
        references.check_constraints(self.constraints.incompatible, self.constraints.max_per_node)
        references.check_shared_memory([(r.id, r.components) for r in self.shared_memory])

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
        acker = Component(ACKER, "system", ackers.count, ackers.resources, ackers.estimated)
        return (*self.components, acker)
