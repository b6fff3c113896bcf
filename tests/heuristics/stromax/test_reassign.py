"""StroMAX, Algorithm 2: who moves, where to, and that it makes nothing worse."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stromax_cases import cluster, problem, random_problems, topology

from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.heuristics.stromax import STROMAX_REASSIGN, THETA, threshold
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Place
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem


def running(made: Problem, nodes: list[int]) -> Problem:
    """Return the problem with its tasks running on these nodes."""
    where: dict[str, dict[str, Place]] = {}
    for (owner, task), node in zip(made.instance.task_names(), nodes, strict=True):
        label = [t.id for t in made.instance.topologies].index(owner)
        where.setdefault(owner, {})[task] = Place(f"n{node}", label)
    return compile_problem(replace(made.instance, running=where))


def moved(made: Problem, method: str = "stromax-reassign") -> tuple[int, ...]:
    answer = run_method(made, find_method(method), 0)
    assert isinstance(answer, Placement)
    return answer.nodes


def fan(rates: dict[str, int], capacities: list[int], nodes: list[int]) -> Problem:
    """Tasks of cpu 10; s talks to the others at these rates."""
    one = topology(
        "t",
        {"s": (1, 10), **dict.fromkeys(rates, (1, 10))},
        [f"s>{k}:{v}" for k, v in rates.items()],
    )
    return running(problem(cluster(capacities), one, flow="rates"), nodes)


def test_the_task_with_most_remote_traffic_moves_to_the_node_it_exchanges_most_with() -> None:
    # Loads 40, 10, 0, 0; average 12.5, threshold 14. s sits on node 1.
    made = fan({"a": 1, "b": 5, "c": 2, "d": 4}, [100] * 4, [1, 0, 0, 0, 0])
    # b (5), d (4), c (2) leave; node 1 would come to 20 > 14, so the least loaded take them.
    assert moved(made) == (1, 0, 2, 0, 3)


def test_the_receiving_node_is_the_one_with_most_traffic_where_it_has_room() -> None:
    # Loads 30, 10, 0; average 40/3. With theta = 1 the threshold is 26.7.
    made = fan({"a": 1, "b": 5, "c": 2}, [100] * 3, [1, 0, 0, 0])
    assert moved(made, "stromax-reassign:theta=1") == (1, 0, 1, 0)


def test_without_room_the_next_best_node_and_else_the_task_stays() -> None:
    made = fan({"a": 1, "b": 5, "c": 2}, [100, 19, 10], [1, 0, 0, 0])
    assert moved(made, "stromax-reassign:theta=1") == (1, 0, 2, 0)
    made = fan({"a": 1, "b": 5, "c": 2}, [100, 19, 9], [1, 0, 0, 0])
    assert moved(made, "stromax-reassign:theta=1") == (1, 0, 0, 0)


def test_above_the_average_by_theta_not_above_theta_times_the_average() -> None:
    # Loads 10, 10: each above 0.12 * 10, none above 1.12 * 10.
    made = fan({"a": 1}, [100] * 2, [0, 1])
    assert moved(made) == (0, 1)
    assert threshold([10, 10], THETA) == Fraction(112, 10)


def test_at_the_threshold_nothing_moves() -> None:
    one = topology("t", {"s": (10, 2)}, [])
    made = running(problem(cluster([100] * 2), one), [0] * 6 + [1] * 4)
    assert moved(made, "stromax-reassign:theta=0.2") == (0,) * 6 + (1,) * 4
    assert moved(made, "stromax-reassign:theta=0.199999") == (1, *(0,) * 5, *(1,) * 4)


def test_a_limit_of_moves_holds() -> None:
    made = fan({"a": 1, "b": 5, "c": 2, "d": 4}, [100] * 4, [1, 0, 0, 0, 0])
    limited = replace(
        made.instance, objective=replace(made.instance.objective, limits={"moved": 1})
    )
    assert moved(compile_problem(limited)) == (1, 0, 2, 0, 0)


def test_it_needs_to_know_where_every_task_runs() -> None:
    made = problem(cluster([9]), topology("t", {"s": (2, 1)}, []))
    assert "running" in str(STROMAX_REASSIGN.supports(made))
    part = replace(made.instance, running={"t": {"s[0]": Place("n0", 0)}})
    assert "running" in str(STROMAX_REASSIGN.supports(compile_problem(part)))


@pytest.mark.parametrize("text", ["theta=-1", "theta=x", "theta=1,2", "phi=1", "theta="])
def test_wrong_parameters_are_named(text: str) -> None:
    with pytest.raises(InputError):
        find_method(f"stromax-reassign:{text}")


def test_theta_stands_in_the_name_and_the_record() -> None:
    method = find_method("stromax-reassign:theta=0.25")
    assert method.name == "stromax-reassign:theta=0.25"
    assert method.parameters == {"theta": "0.25"}
    assert "25 %" in method.description
    assert find_method("stromax-reassign:theta=0.12").name == "stromax-reassign"


def loads(made: Problem, nodes: tuple[int, ...]) -> list[int]:
    found = [0] * made.node_count
    for task, node in enumerate(nodes):
        if made.cpu is not None:
            found[node] += int(made.demand[made.task_class[task], made.cpu])
    return found


@given(random_problems(), st.data())
def test_it_never_raises_what_it_set_out_to_lower(made: Problem, data: st.DataObject) -> None:
    start = [data.draw(st.integers(0, made.node_count - 1)) for _ in range(made.task_count)]
    here = running(made, start)
    if here.cpu is None:
        return
    answer = moved(here)
    before, after = loads(here, tuple(start)), loads(here, answer)
    limit = threshold(before, THETA)
    capacity: list[int] = here.capacity[:, here.cpu].tolist()
    assert sum(after) == sum(before)
    for n in range(here.node_count):
        assert max(0, after[n] - limit) <= max(0, before[n] - limit)
        assert max(0, after[n] - capacity[n]) <= max(0, before[n] - capacity[n])
    whole = Placement(answer, tuple(range(len(answer))))
    assert len(judge(here, whole).objective) == len(here.terms)
    assert moved(here) == answer
