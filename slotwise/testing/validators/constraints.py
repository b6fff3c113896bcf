"""Cases of a topology's constraints: ``incompatible`` and ``max_per_node``."""

from __future__ import annotations

from hypothesis import strategies as st

from slotwise.models.instance.topology import ACKER, Ackers, Constraints
from slotwise.testing.validators.case import (
    Scene,
    SubCase,
    any_label,
    component,
    labels,
    node,
    other_than,
    scene,
    topology,
)

PAIRS = (("a", "b"), ("b", "a"))


def _apart(*pairs: tuple[str, str]) -> Constraints:
    return Constraints(incompatible=pairs)


def _pair(draw: st.DrawFn, broken: bool) -> Scene:
    # Two components, in either order, share a node but no worker.
    own = topology(component("a"), component("b"), constraints=_apart(draw(st.sampled_from(PAIRS))))
    label = any_label(draw)
    last = label if broken else other_than(label)
    return scene(draw, [node()], [own], [("n0", label), ("n0", last)])


def _pair_by_label(draw: st.DrawFn, broken: bool) -> Scene:
    label = any_label(draw)
    own = topology(component("a"), component("b"), constraints=_apart(("a", "b")))
    spots = [("n0", label), ("n0" if broken else "n1", label)]
    return scene(draw, [node("n0"), node("n1")], [own], spots)


def _with_itself(draw: st.DrawFn, broken: bool) -> Scene:
    # A pair (a, a) allows one task of a in a worker; (a, b) allows many of a.
    count = draw(st.integers(2, 3))
    pair = ("a", "a") if broken else ("a", "b")
    own = topology(component("a", count), component("b", 0), constraints=_apart(pair))
    spots = [("n0", 0), ("n0", 0), ("n0", 1)][:count]
    return scene(draw, [node()], [own], spots)


def _itself_apart(draw: st.DrawFn, broken: bool) -> Scene:
    own = topology(component("a", 2), component("b"), constraints=_apart(("a", "a")))
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 1 - broken), ("n0", 0)])


def _third_component(draw: st.DrawFn, broken: bool) -> Scene:
    # A component that is in no pair may share a worker with each of the two.
    own = topology(component("a"), component("b"), component("c"), constraints=_apart(("a", "b")))
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 1 - broken), ("n0", 0)])


def _not_next_to_each_other(draw: st.DrawFn, broken: bool) -> Scene:
    # The two are not neighbours in the order of tasks.
    own = topology(component("a"), component("b"), component("c"), constraints=_apart(("a", "c")))
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 1), ("n0", 0 if broken else 2)])


def _names_elsewhere(draw: st.DrawFn, broken: bool) -> Scene:
    # Another topology has a component of a name in the pair, on the same node.
    own = topology(component("a"), component("b"), constraints=_apart(("a", "b")))
    other = topology(component("b"), key="u")
    return scene(draw, [node()], [own, other], [("n0", 0), ("n0", 1 - broken), ("n0", 2)])


def _last_pair(draw: st.DrawFn, broken: bool) -> Scene:
    # Each pair counts, not the first one alone.
    own = topology(
        component("a"), component("b"), component("c"), constraints=_apart(("a", "b"), ("b", "c"))
    )
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 1), ("n0", 1 if broken else 0)])


def _acker_apart(draw: st.DrawFn, broken: bool) -> Scene:
    own = topology(component("a"), ackers=Ackers(1), constraints=_apart(("a", ACKER)))
    return scene(draw, [node()], [own], [("n0", 0), ("n0", 1 - broken)])


def _whose_pair(draw: st.DrawFn, broken: bool) -> Scene:
    # Two topologies with components of the same names, and the pair is that of one of them.
    pair = _apart(("a", "b"))
    own = topology(component("a"), component("b", 0), constraints=Constraints() if broken else pair)
    other = topology(
        component("a"), component("b"), key="u", constraints=pair if broken else Constraints()
    )
    return scene(draw, [node()], [own, other], [("n0", 0), ("n0", 1), ("n0", 1)])


def _most(draw: st.DrawFn, broken: bool) -> Scene:
    # So many tasks on a node, in whatever workers.
    most = draw(st.integers(1, 2))
    count = most + broken
    own = topology(component("a", count), constraints=Constraints(max_per_node={"a": most}))
    return scene(draw, [node()], [own], labels(draw, count))


def _most_in_workers(draw: st.DrawFn, broken: bool) -> Scene:
    # The rule counts on the node: several workers do not help.
    most = draw(st.integers(1, 2))
    count = most + broken
    own = topology(component("a", count), constraints=Constraints(max_per_node={"a": most}))
    return scene(draw, [node()], [own], [("n0", label) for label in range(count)])


def _most_on_each_node(draw: st.DrawFn, broken: bool) -> Scene:
    most = draw(st.integers(1, 2))
    own = topology(component("a", most + 1), constraints=Constraints(max_per_node={"a": most}))
    spots = [*labels(draw, most), ("n0" if broken else "n1", 0)]
    return scene(draw, [node("n0"), node("n1")], [own], spots)


def _most_of_one_component(draw: st.DrawFn, broken: bool) -> Scene:
    # Tasks of other components do not count.
    constraints = Constraints(max_per_node={"a": 1})
    own = topology(component("a", 1 + broken), component("b", 2 - broken), constraints=constraints)
    return scene(draw, [node()], [own], labels(draw, 3))


def _last_limit(draw: st.DrawFn, broken: bool) -> Scene:
    # Each component has its own limit.
    constraints = Constraints(max_per_node={"a": 2, "b": 1})
    counts = (1, 2) if broken else (2, 1)
    own = topology(component("a", counts[0]), component("b", counts[1]), constraints=constraints)
    return scene(draw, [node()], [own], labels(draw, 3))


def _whose_limit(draw: st.DrawFn, broken: bool) -> Scene:
    # Two topologies with components of the same name, and the limit is that of one of them.
    limit = Constraints(max_per_node={"a": 1})
    own = topology(component("a"), constraints=Constraints() if broken else limit)
    other = topology(component("a", 2), key="u", constraints=limit if broken else Constraints())
    return scene(draw, [node()], [own, other], [("n0", 0), ("n0", 1), ("n0", 1)])


def _most_ackers(draw: st.DrawFn, broken: bool) -> Scene:
    own = topology(
        component("a"), ackers=Ackers(1 + broken), constraints=Constraints(max_per_node={ACKER: 1})
    )
    return scene(draw, [node()], [own], labels(draw, 2 + broken))


INCOMPATIBLE = tuple(
    SubCase("incompatible", name, build)
    for name, build in (
        ("two components", _pair),
        ("one label on two nodes", _pair_by_label),
        ("with itself, or with another", _with_itself),
        ("with itself", _itself_apart),
        ("a third component", _third_component),
        ("the last of two pairs", _last_pair),
        ("first and last of three tasks", _not_next_to_each_other),
        ("a name in another topology", _names_elsewhere),
        ("ackers", _acker_apart),
        ("a topology without the pair", _whose_pair),
    )
)
MAX_PER_NODE = tuple(
    SubCase("max_per_node", name, build)
    for name, build in (
        ("tasks on a node", _most),
        ("tasks in several workers", _most_in_workers),
        ("each node by itself", _most_on_each_node),
        ("other components", _most_of_one_component),
        ("each component its own limit", _last_limit),
        ("a topology without the limit", _whose_limit),
        ("ackers", _most_ackers),
    )
)
