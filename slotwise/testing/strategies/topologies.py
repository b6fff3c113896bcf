"""Topologies by themselves."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from slotwise.models.instance.topology import Topology
from slotwise.models.values import one_of, whole
from slotwise.testing.choices import chance
from slotwise.testing.random_instances.tiny import RESOURCES, make_resources
from slotwise.testing.random_instances.tiny_topologies import make_topology, with_tasks
from slotwise.testing.strategies.from_hypothesis import FromHypothesis


@st.composite
def _topologies(
    draw: st.DrawFn,
    id: str,
    most_components: int,
    most_tasks: int,
    resources: Sequence[str] | None,
    rates: bool | None,
) -> Topology:
    choose = FromHypothesis(draw)
    dims = make_resources(choose) if resources is None else tuple(resources)
    tasks = choose.whole(1, most_tasks)
    rated = chance(choose, 40) if rates is None else rates
    return with_tasks(make_topology(choose, id, tasks, dims, rated, most_components))


def topologies(
    id: str = "topology-1",
    *,
    most_components: int = 4,
    most_tasks: int = 6,
    resources: Sequence[str] | None = None,
    rates: bool | None = None,
) -> st.SearchStrategy[Topology]:
    """Return a strategy for topologies with at least one task.

    A spout, bolts, streams between them, now and then in a circle; demands of ``cpu``, memory and
    ``gpu``; at times ackers, shared memory, a heap limit, or rules on who may share a worker or a
    node. They shrink towards one spout with one task and no demand.

    Parameters
    ----------
    id
        Of each topology.
    most_components
        Most components without ackers, 1 or more.
    most_tasks
        Most tasks, ackers included, 1 or more.
    resources
        What tasks may need, out of ``cpu``, ``memory_mb`` and ``gpu``; ``None`` = some of them.
    rates
        Whether streams have rates, which an instance with ``flow="rates"`` needs; ``None`` = some.

    Raises
    ------
    InputError
        When a number is out of range, or a resource is none of these.
    """
    whole(most_components, "most_components", least=1)
    whole(most_tasks, "most_tasks", least=1)
    for key in resources or ():
        one_of(key, RESOURCES, "resources")
    return _topologies(id, most_components, most_tasks, resources, rates)
