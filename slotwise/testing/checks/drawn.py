"""Which instances a check looks at, unless the user says."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.topology import Component, Topology
from slotwise.testing.checks.table import Demand
from slotwise.testing.strategies.instances import KINDS, instances

MIXED = tuple(kind for kind in KINDS if kind != "infeasible")
"""Kinds that are drawn in turn. In the kind ``any`` some are infeasible."""


_ONE_NODE = Cluster((Node("n0", "r0"),))
CORNERS = (
    Instance("nothing-to-place", _ONE_NODE, ()),
    Instance("no-tasks", _ONE_NODE, (Topology("t0", (Component("c0", "spout", 0),)),)),
)
"""Instances without tasks, which every check looks at first."""


def check_kind(kind: str | None) -> None:
    """Raise `InputError` unless it is a kind of instances."""
    if kind is not None:
        instances(kind)


def drawn(demand: Demand, kind: str | None = None) -> SearchStrategy[Instance]:
    """Return the strategy for instances of a kind.

    Parameters
    ----------
    demand
        The check that looks at them.
    kind
        One of `KINDS`; ``None`` = of all in `MIXED`, and for ``moves`` of the kind ``running``.

    Raises
    ------
    InputError
        When there is no such kind.
    """
    if kind is not None:
        return instances(kind)
    if demand.check.name == "moves":
        return instances("running")
    return st.one_of([instances(one) for one in MIXED])
