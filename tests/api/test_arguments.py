"""Arguments of the wrong kind are refused in one line, by the argument's own name."""

from __future__ import annotations

import pytest

import slotwise

FILE = "word-count.json"
PLAN = {"wc": {"lines[0]": ("n1", 0)}}
SHORT = slotwise.Placement((0,), (0,))
CALLS = {
    "explain by a number": (
        lambda: slotwise.explain(FILE, method=3),
        "method: must be the name of a method or a Method, not an int",
    ),
    "explain a number": (
        lambda: slotwise.explain(FILE, PLAN, task=3),
        "task: must be the name of a task, not an int",
    ),
    "explain at a number": (
        lambda: slotwise.explain(FILE, prices=3),
        "prices: must be RepairPrices, a dict or texts, not an int",
    ),
    "explain at a price without a name": (
        lambda: slotwise.explain(FILE, prices={1: 2}),
        "prices = 1: must be the name of a price",
    ),
    "explain at a list of numbers": (
        lambda: slotwise.explain(FILE, prices=[5]),
        "prices = 5: must be NAME=PRICE",
    ),
    "explain without time": (
        lambda: slotwise.explain(FILE, PLAN, time_limit_s=0),
        "time_limit_s = 0: must be a finite number of seconds above 0",
    ),
    "explain without threads": (
        lambda: slotwise.explain(FILE, PLAN, workers=0),
        "workers = 0: must be 1 or more",
    ),
    "place by nothing": (
        lambda: slotwise.place(FILE, None),
        "method: must be the name of a method or a Method, not None",
    ),
    "solve by a number": (
        lambda: slotwise.solve(FILE, engine=3),
        "engine: must be the name of an engine or an Engine, not an int",
    ),
    "solve a placement": (
        lambda: slotwise.solve(SHORT),
        "instance: must be a path, a dict, text or an Instance, not a Placement",
    ),
    "solve without time": (
        lambda: slotwise.solve(FILE, time_limit_s=0),
        "time_limit_s = 0: must be a finite number of seconds above 0",
    ),
    "solve without memory": (
        lambda: slotwise.solve(FILE, memory_limit_mb=0),
        "memory_limit_mb = 0: must be 1 or more",
    ),
    "judge a number": (
        lambda: slotwise.judge(FILE, 3),
        "placement: must be a path, a dict, text or a Placement, not an int",
    ),
    "judge another's": (
        lambda: slotwise.judge(FILE, SHORT),
        "placement: must have one entry per task of the instance (9), not 1",
    ),
    "name another's": (
        lambda: SHORT.to_dict(slotwise.read_instance(FILE)),
        "placement: must be a placement of word-count (9 tasks, 3 nodes); it is another instance's",
    ),
    "write another's": (
        lambda: slotwise.write_placement("plan.json", slotwise.read_instance(FILE), SHORT),
        "placement: must be a placement of word-count (9 tasks, 3 nodes); it is another instance's",
    ),
    "sizes that are none": (
        lambda: slotwise.allocate("star", 100, vms=3),
        "vms: must be a path, a dict, text or VM sizes, not an int",
    ),
    "models that are none": (
        lambda: slotwise.allocate("star", 100, models=3),
        "models: must be a path, a dict or text, not an int",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_wrong_is_said_in_one_line(examples, name):
    call, message = CALLS[name]
    with pytest.raises(slotwise.InputError) as caught:
        call()
    assert str(caught.value) == message


def test_tasks_that_are_not_placed_are_said_so(examples):
    (broken,) = slotwise.judge(FILE, {}).violations
    assert str(broken) == "placed: topology wc, tasks: 9 needed, 0 placed"


def test_a_placement_shows_its_tasks_by_node(examples):
    placement = slotwise.place(FILE, "r-storm")
    assert repr(placement).endswith("; tasks by node index: 0: 5, 1: 4")
    assert repr(slotwise.Placement((-1,), (-1,))).endswith("in 0 workers, 1 not placed")


def test_an_unknown_argument_is_a_type_error(examples):
    with pytest.raises(TypeError, match="unexpected keyword argument 'time_limit'"):
        slotwise.solve(FILE, time_limit=3)
