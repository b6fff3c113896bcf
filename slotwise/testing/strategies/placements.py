"""Placements of an instance: any, valid ones, broken ones."""

from __future__ import annotations

from hypothesis import reject
from hypothesis import strategies as st

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.solve import solve

MOST_CHANGES = 4
"""Most tasks whose place is changed in a placement that stays valid."""

MOST_WORKERS = 3
"""Workers of a topology on a node among which a task's is drawn."""


def placements(instance: Instance, valid: bool | None = None) -> st.SearchStrategy[Placement]:
    """Return a strategy for placements of an instance.

    Parameters
    ----------
    instance
        What is placed. For one without a placement of the kind that is asked for, the example is
        rejected, as by `hypothesis.assume`.
    valid
        True: the judge finds no rule broken; they shrink towards a best placement. False: it does.
        ``None``: both, now and then with tasks that are not placed; they shrink towards all tasks
        in one worker.
    """
    problem = compile_problem(instance)
    if valid:
        return _valid(problem)
    return _any(problem) if valid is None else _broken(problem)


def _places(problem: Problem) -> st.SearchStrategy[tuple[int, int]]:
    nodes = st.integers(0, problem.node_count - 1)
    return st.tuples(nodes, st.integers(0, MOST_WORKERS * len(problem.rules) - 1))


@st.composite
def _any(draw: st.DrawFn, problem: Problem) -> Placement:
    count = problem.task_count
    places = draw(st.lists(_places(problem), min_size=count, max_size=count))
    missing = draw(st.just(()) | st.lists(st.integers(0, max(0, count - 1)), max_size=count))
    return _placement(
        [(UNPLACED, UNPLACED) if t in missing else place for t, place in enumerate(places)]
    )


@st.composite
def _valid(draw: st.DrawFn, problem: Problem) -> Placement:
    placement = solve(problem, time_limit_s=10).placement
    if placement is None:
        reject()
    places = list(zip(placement.nodes, placement.workers, strict=True))
    for _ in range(draw(st.integers(0, MOST_CHANGES)) if places else 0):
        task = draw(st.integers(0, len(places) - 1))
        changed = [*places[:task], draw(_places(problem)), *places[task + 1 :]]
        if judge(problem, _placement(changed)).valid:
            places = changed
    return _placement(places)


@st.composite
def _broken(draw: st.DrawFn, problem: Problem) -> Placement:
    drawn = draw(_any(problem))
    places = list(zip(drawn.nodes, drawn.workers, strict=True))
    if not judge(problem, drawn).valid:
        return drawn
    variants = [
        _placement([*places[:t], (UNPLACED, UNPLACED), *places[t + 1 :]])
        for t in range(len(places))
    ]
    variants.append(_placement([(0, 0)] * len(places)))
    variants += [
        _placement([(node, label) for label in range(len(places))])
        for node in range(problem.node_count)
    ]
    broken = [variant for variant in variants if not judge(problem, variant).valid]
    return draw(st.sampled_from(broken)) if broken else reject()


def _placement(places: list[tuple[int, int]]) -> Placement:
    return Placement(tuple(node for node, _ in places), tuple(worker for _, worker in places))
