"""Each task on a random node, in one worker per node and topology."""

from numpy.random import Generator

from slotwise.heuristics.method import Method
from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem


def place(problem: Problem, rng: Generator) -> Placement:
    """Draw a node for each task; the judge says what that breaks."""
    nodes = rng.integers(problem.node_count, size=problem.task_count)
    topologies = [problem.classes[c].topology for c in problem.task_class]
    return Placement(tuple(nodes.tolist()), tuple(topologies))


RANDOM = Method(name="random", source="an example of the documentation", place=place)
