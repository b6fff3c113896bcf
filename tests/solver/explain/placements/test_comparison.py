"""Two placements compared: what is interchangeable does not differ, the rest is exact."""

from __future__ import annotations

import itertools
from fractions import Fraction

from explained_cases import placed_cases, random_placement

import slotwise
from slotwise.models.instance.placement import Placement
from slotwise.models.judge.judge import judge
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.explain.comparison import compare
from slotwise.solver.structure.matching import matched
from slotwise.solver.structure.node_types import equal_nodes


def test_word_count_by_hand(examples):
    instance = slotwise.read_instance("word-count.json")
    problem = compile_problem(instance)
    first = slotwise.place(instance, "r-storm", seed=0)
    second = slotwise.solve(instance).placement
    found = compare(problem, first, second)
    assert [(t, int(a), int(b)) for t, a, b in found.terms] == [
        ("overload", 0, 0),
        ("network", 28, 23),
    ]
    assert sum(stream.change for stream in found.streams) == -5
    assert not found.from_second
    assert found.steps
    assert all(step.objective["network"] < 28 for step in found.steps)


def test_a_placement_does_not_differ_from_itself_by_other_names(examples):
    """Nodes n1 and n2 are equal: exchanging all their tasks makes no difference."""
    instance = slotwise.read_instance("word-count.json")
    problem = compile_problem(instance)
    first = slotwise.place(instance, "r-storm", seed=0)
    swapped = Placement(
        tuple({0: 1, 1: 0}.get(node, node) for node in first.nodes),
        tuple(label + 5 for label in first.workers),
    )
    found = compare(problem, first, swapped)
    assert found.moves == ()
    assert found.nodes == ()
    assert found.renamed == {"n1": "n2", "n2": "n1"}


def renamings(problem):
    """Yield every exchange of equal nodes of a rack."""
    groups = [group for group in equal_nodes(problem) if len(group) > 1]
    for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield {
            node: new
            for group, order in zip(groups, orders, strict=True)
            for node, new in zip(group, order, strict=True)
        }


def test_exchange_keeps_the_cost_and_the_rules():
    exchanged = 0
    for one, first, rng in placed_cases(150):
        second = random_placement(one.problem, rng)
        found = matched(one.problem, first, second)
        before, after = judge(one.problem, second), judge(one.problem, found.placement)
        assert before.scaled == after.scaled, one.number
        assert sorted(v.rule for v in before.violations) == sorted(
            v.rule for v in after.violations
        ), one.number
        exchanged += bool(found.nodes)
    assert exchanged >= 10


def same(first, second):
    places = (zip(p.nodes, p.workers, strict=True) for p in (first, second))
    return sum(a == b for a, b in zip(*places, strict=True))


def test_no_other_exchange_of_nodes_agrees_more():
    """Against every exchange of equal nodes, each with the best exchange of workers and tasks."""
    tried = 0
    for one, first, rng in placed_cases(150):
        problem = one.problem
        if problem.matrix is not None:
            continue
        second = random_placement(problem, rng)
        best = same(first, matched(problem, first, second).placement)
        for names in renamings(problem):
            other = Placement(tuple(names.get(n, n) for n in second.nodes), second.workers)
            assert same(first, other) <= best, one.number
            tried += 1
    assert tried >= 100


def test_differences_add_up():
    for one, first, rng in placed_cases(60):
        second = random_placement(one.problem, rng)
        found = compare(one.problem, first, second)
        network = [split.verdict.parts["network"] for split in (found.first, found.second)]
        change = sum((s.change for s in found.streams), Fraction(0))
        assert change == network[1] - network[0], one.number
        nodes, workers = list(first.nodes), list(first.workers)
        ids = [node.id for node in one.instance.cluster.nodes]
        for move in found.moves:
            assert move.after is not None
            nodes[move.task], workers[move.task] = ids.index(move.after[0]), move.after[1]
        assert Placement(tuple(nodes), tuple(workers)) == found.exchanged


def test_steps_lead_downwards_and_are_judged():
    seen = 0
    for one, first, rng in placed_cases(60):
        second = random_placement(one.problem, rng)
        found = compare(one.problem, first, second)
        start = found.exchanged if found.from_second else first
        end = first if found.from_second else found.exchanged
        value = judge(one.problem, start).scaled
        nodes, workers = list(start.nodes), list(start.workers)
        for step in found.steps:
            task = step.move.task
            nodes[task], workers[task] = end.nodes[task], end.workers[task]
            verdict = judge(one.problem, Placement(tuple(nodes), tuple(workers)))
            assert verdict.scaled < value
            value = verdict.scaled
            assert step.objective == {t.term: t.value for t in verdict.objective}
            assert step.broken == tuple(verdict.violations)
            seen += 1
    assert seen >= 20


def test_two_topologies_in_a_worker_are_left_as_they_are():
    for one, first, _ in placed_cases(60):
        if len(one.problem.rules) > 1:
            shared = Placement(first.nodes, tuple(0 for _ in first.workers))
            found = matched(one.problem, first, shared)
            assert judge(one.problem, found.placement).scaled == judge(one.problem, shared).scaled
