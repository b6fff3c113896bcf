"""Cases of ``placed``: every topology is placed whole, or left out whole where that is allowed."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from slotwise.models.instance.topology import Ackers
from slotwise.testing.validators.case import (
    LEFT_OUT,
    Scene,
    Spot,
    SubCase,
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
