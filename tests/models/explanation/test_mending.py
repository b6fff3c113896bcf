"""Broken rules in words: each rule has its own, with the figures of the judge."""

from __future__ import annotations

from fractions import Fraction

import pytest
from explained_cases import placed_cases

from slotwise.models.explanation.mending import cause, mending
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Violation


def violation(rule, place, subject, needed, available):
    return Violation(rule, place, subject, Fraction(needed), Fraction(available))


@pytest.mark.parametrize(
    ("broken", "meaning", "remedy"),
    [
        (
            violation("placed", "topology wc", "tasks", 9, 8),
            "1 task of topology wc has no place",
            "place it",
        ),
        (
            violation("capacity", "node n1", "cpu", 240, 200),
            "node n1 needs 240 cpu and has 200",
            "move tasks with 40 cpu or more to other nodes, or raise its cpu to 240",
        ),
        (
            violation("slots", "node n1", "workers", 3, 1),
            "node n1 needs 3 workers and has 1 slot",
            "empty 2 of its workers, or give it 3 slots",
        ),
        (
            violation("one_topology_per_worker", "node n1 worker 0", "a and b", 2, 1),
            "node n1 worker 0 holds tasks of a and b",
            "give each topology a worker of its own",
        ),
        (
            violation("heap", "node n1 worker 0", "on-heap memory of wc", 1024, 768),
            "node n1 worker 0 needs 1024 MB of on-heap memory of wc and may have 768",
            "move tasks with 256 MB on-heap or more to other workers, or raise "
            "worker_max_heap_mb to 1024",
        ),
        (
            violation("one_task_per_worker", "node n1 worker 0", "wc", 3, 1),
            "node n1 worker 0 holds 3 tasks; wc allows one task per worker",
            "move 2 of them to other workers",
        ),
        (
            violation("one_component_per_worker", "node n1 worker 0", "wc", 2, 1),
            "node n1 worker 0 holds tasks of 2 components; wc allows one component per worker",
            "leave one component there and move the others to other workers",
        ),
        (
            violation("incompatible", "node n1 worker 0", "a and b", 2, 1),
            "node n1 worker 0 holds a and b, which may not share a worker",
            "move the tasks of a or those of b to another worker",
        ),
        (
            violation("incompatible", "node n1 worker 0", "a and a", 3, 1),
            "node n1 worker 0 holds 3 tasks of a, which may not share a worker",
            "move 2 of them to other workers",
        ),
        (
            violation("max_per_node", "node n1", "split", 3, 2),
            "node n1 holds 3 tasks of split; at most 2 may share a node",
            "move 1 of them to other nodes",
        ),
        (
            violation("max_moved", "cluster", "tasks", 3, 1),
            "3 running tasks would move; at most 1 may",
            "leave 2 more of them where they run",
        ),
    ],
    ids=lambda value: getattr(value, "rule", ""),
)
def test_words(broken, meaning, remedy):
    one = mending(broken)
    assert (one.meaning, one.remedy) == (meaning, remedy)
    assert cause(broken) == meaning


def test_every_rule_of_the_judge_has_words():
    rules = set()
    for one, placement, _ in placed_cases(150):
        for broken in judge(one.problem, placement).violations:
            assert mending(broken).meaning
            rules.add(broken.rule)
    assert rules >= {"capacity", "slots", "heap", "incompatible", "max_per_node"}
