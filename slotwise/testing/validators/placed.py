"""Cases of ``placed``: every topology is placed whole, or left out whole where that is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from hypothesis import strategies as st

from slotwise.models.instance.instance import Objective
from slotwise.models.instance.topology import Ackers, Topology
from slotwise.testing.validators.case import (
    LEFT_OUT,
    Scene,
    Spot,
    SubCase,
    any_label,
    component,
    labels,
    node,
    scene,
    topology,
)


def _one_task_missing(draw: st.DrawFn, broken: bool) -> Scene:
    count = draw(st.integers(1, 3))
    spots: list[Spot | None] = [*labels(draw, count)]
    if broken:
        spots[draw(st.integers(0, count - 1))] = None
    return scene(draw, [node()], [topology(component("a", count))], spots)


def _acker_missing(draw: st.DrawFn, broken: bool) -> Scene:
    ackers = draw(st.integers(1, 2))
    spots: list[Spot | None] = [*labels(draw, 1 + ackers)]
    if broken:
        spots[-1] = None
    return scene(draw, [node()], [topology(component("a"), ackers=Ackers(ackers))], spots)


def _partly_left_out(draw: st.DrawFn, broken: bool) -> Scene:
    # Leave out a topology of two tasks, or one of its tasks only.
    both = [topology(component("a", 2)), topology(component("a"), key="u")]
    last = draw(st.sampled_from(((None,), (("n0", 1),))))
    return scene(
        draw, [node()], both, [("n0", 0) if broken else None, None, *last], objective=LEFT_OUT
    )


def _left_out_unasked(draw: st.DrawFn, broken: bool) -> Scene:
    # Leave out a topology where the objective counts ``rejected``, or where it does not.
    both = [topology(component("a")), topology(component("a"), key="u")]
    objective = None if broken else LEFT_OUT
    return scene(draw, [node()], both, [("n0", 0), None], objective=objective)


def _no_tasks(draw: st.DrawFn, broken: bool) -> Scene:
    # A component, or a topology, of no tasks has nothing to place.
    own = topology(component("a", 0), component("b"))
    empty = topology(component("a", 0), key="u")
    both = draw(st.sampled_from(((own,), (own, empty), (empty, own))))
    return scene(draw, [node()], both, [None if broken else ("n0", 0)])


def _wishes(draw: st.DrawFn, broken: bool) -> Scene:
    # Favored and unfavored nodes are wishes: a valid placement need not follow them.
    own = topology(component("a", 2), unfavored_nodes=("n0",), favored_nodes=("n1",))
    spots: list[Spot | None] = [("n0", 0), None if broken else ("n0", 0)]
    return scene(draw, [node("n0"), node("n1")], [own], spots)


def _matrix(draw: st.DrawFn, broken: bool) -> Scene:
    # Distances are costs, by level or by a matrix, and break no rule.
    far = draw(st.sampled_from(tuple(map(Decimal, (1, 100)))))
    matrix = ((Decimal(0), far), (far, Decimal(0)))
    spots: list[Spot | None] = [("n0", 0), None if broken else ("n1", 0)]
    own = topology(component("a", 2))
    return scene(draw, [node("n0"), node("n1")], [own], spots, matrix=matrix)


PLACED = tuple(
    SubCase("placed", name, build)
    for name, build in (
        ("one task missing", _one_task_missing),
        ("an acker missing", _acker_missing),
        ("a topology partly left out", _partly_left_out),
        ("left out, but not in the objective", _left_out_unasked),
        ("components without tasks", _no_tasks),
        ("favored and unfavored nodes", _wishes),
        ("a matrix of distances", _matrix),
    )
)


# Cases of ``max_moved``: at most K of the tasks that run are elsewhere than they run.

TERMS = (("overload", "network"), ("moved", "network"))
"""The limit holds whether or not the objective counts ``moved``."""


def _moving(
    draw: st.DrawFn,
    topologies: Sequence[Topology],
    running: Sequence[Spot | None],
    spots: Sequence[Spot | None],
    *,
    most: int | None,
    terms: tuple[str, ...] | None = None,
) -> Scene:
    # Return a scene of two nodes where at most `most` tasks may move; ``None`` = no limit.
    limits = {} if most is None else {"moved": most}
    objective = Objective(terms or draw(st.sampled_from(TERMS)), limits=limits)
    nodes = [node("n0"), node("n1")]
    return scene(draw, nodes, topologies, spots, running=running, objective=objective)


def _to_another_node(draw: st.DrawFn, broken: bool) -> Scene:
    # Some of the tasks move, with their label.
    count = draw(st.integers(1, 3))
    moved = draw(st.integers(1, count))
    label = any_label(draw)
    spots = [("n1", label)] * moved + [("n0", label)] * (count - moved)
    own = topology(component("a", count))
    return _moving(draw, [own], [("n0", label)] * count, spots, most=moved - broken)


def _to_another_worker(draw: st.DrawFn, broken: bool) -> Scene:
    # A task in another worker of its node has moved.
    count = draw(st.integers(1, 2))
    own = topology(component("a", count))
    return _moving(draw, [own], [("n0", 0)] * count, [("n0", 1)] * count, most=count - broken)


def _not_running(draw: st.DrawFn, broken: bool) -> Scene:
    # A task that does not run yet cannot move.
    own = topology(component("a", 2))
    return _moving(draw, [own], [("n0", 0), None], [("n1", 0), ("n1", 0)], most=1 - broken)


def _none_may(draw: st.DrawFn, broken: bool) -> Scene:
    count = draw(st.integers(1, 3))
    running = [("n0", 0)] * count
    spots = [*running[:-1], ("n1", 0)] if broken else running
    return _moving(draw, [topology(component("a", count))], running, spots, most=0)


def _swapped(draw: st.DrawFn, broken: bool) -> Scene:
    # Tasks of one component that change places have moved, though the counts stay.
    own = topology(component("a", 2))
    homes = [("n0", 0), ("n1", 0)]
    return _moving(draw, [own], homes, homes[::-1], most=2 - broken)


def _left_out(draw: st.DrawFn, broken: bool) -> Scene:
    # The tasks of a topology that is left out have moved.
    count = draw(st.integers(1, 2))
    both = [topology(component("a", count)), topology(component("a"), key="u")]
    running = [*[("n0", 0)] * count, ("n0", 1)]
    spots = [*[None] * count, ("n0", 1)]
    terms = ("rejected", "network")
    return _moving(draw, both, running, spots, most=count - broken, terms=terms)


def _two_topologies(draw: st.DrawFn, broken: bool) -> Scene:
    # The moves of all topologies add up.
    both = [topology(component("a")), topology(component("a"), key="u")]
    running, spots = [("n0", 0), ("n0", 1)], [("n1", 0), ("n1", 1)]
    return _moving(draw, both, running, spots, most=2 - broken)


def _no_limit(draw: st.DrawFn, broken: bool) -> Scene:
    count = draw(st.integers(1, 3))
    own = topology(component("a", count))
    most = count - 1 if broken else None
    return _moving(draw, [own], [("n0", 0)] * count, [("n1", 0)] * count, most=most)


MAX_MOVED = tuple(
    SubCase("max_moved", name, build)
    for name, build in (
        ("to another node", _to_another_node),
        ("to another worker", _to_another_worker),
        ("a task that does not run yet", _not_running),
        ("a limit of 0", _none_may),
        ("two tasks swapped", _swapped),
        ("a topology left out", _left_out),
        ("two topologies", _two_topologies),
        ("no limit", _no_limit),
    )
)
