"""What makes up a cost: by hand, and adding up to what the judge says."""

from __future__ import annotations

from fractions import Fraction

from explained_cases import placed_cases

import slotwise
from slotwise.models.explanation.cost_split import split_cost
from slotwise.models.instance.instance import Place
from slotwise.models.instance.placement import from_places
from slotwise.models.problem.compile import compile_problem


def total(values):
    return sum(values, Fraction(0))


def test_word_count_by_hand(examples):
    instance = slotwise.read_instance("word-count.json")
    problem = compile_problem(instance)
    places = {
        "lines[0]": ("n1", 0), "lines[1]": ("n2", 0),
        "split[0]": ("n1", 0), "split[1]": ("n1", 0),
        "split[2]": ("n1", 1), "split[3]": ("n3", 0),
        "count[0]": ("n1", 1), "count[1]": ("n2", 0), "count[2]": ("n3", 0),
    }  # fmt: skip
    at = {task: Place(*place) for task, place in places.items()}
    split = split_cost(problem, from_places(instance, {"wc": at}))
    streams = {(one.source, one.target): one for one in split.streams}
    # lines[0] with split[0], [1] in a worker, [2] on the node, [3] in the other rack;
    # lines[1] with split[0], [1], [2] in the rack, [3] in the other rack
    assert streams["lines", "split"].flow == (2, 1, 3, 2)
    assert streams["lines", "split"].cost == (0, 1, 6, 6)
    # count[0]: [2] in a worker, [0], [1] on the node, [3] far; count[1]: three in the rack, one
    # far; count[2]: [3] in a worker, three far
    assert streams["split", "count"].flow == (2, 2, 3, 5)
    assert streams["split", "count"].total == 0 + 2 + 6 + 15
    assert split.terms == {"overload": {"overload": 0}, "network": {"network": 36}}
    # n2 has half of lines[1] (3 x 2 + 3) and half of count[1] (3 x 2 + 3)
    assert split.node_network["n2"] == 9
    assert total(split.node_network.values()) == 36


def test_parts_add_up_to_what_the_judge_says():
    seen = set()
    for one, placement, _ in placed_cases(150):
        split = split_cost(one.problem, placement)
        parts = split.verdict.parts
        for term in split.verdict.objective:
            assert total(split.terms[term.term].values()) == term.value, one.number
        assert total(s.total for s in split.streams) == parts["network"], one.number
        assert total(split.node_network.values()) == parts["network"], one.number
        flows = [total(s.flow[level] for s in split.streams) for level in range(4)]
        assert tuple(flows) == split.verdict.flow_by_level, one.number
        assert total(o.cost for o in split.overloads) == parts["overload"], one.number
        assert total(row.cost for row in split.linear) == parts["linear"], one.number
        assert len(split.moved) == parts["moved"], one.number
        seen |= {part for part, value in parts.items() if value}
        seen |= {"matrix"} if one.problem.matrix is not None and parts["network"] else set()
    assert seen >= {"network", "overload", "linear", "moved", "matrix"}
