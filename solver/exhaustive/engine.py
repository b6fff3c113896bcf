"""The engine ``exhaustive``: ground truth for tiny instances, and which are tiny enough.

`search` goes through all placements up to symmetry.
"""

from __future__ import annotations

import math
from functools import partial
from importlib.metadata import version

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.declared_rules import declares
from slotwise.solver.core.engine import Engine, configurable
from slotwise.solver.core.incumbent import Incumbent
from slotwise.solver.core.reporter import Reporter, null_reporter
from slotwise.solver.core.result import Limits, Outcome
from slotwise.solver.exhaustive.params import EXHAUSTIVE_DEFAULTS, ExhaustiveParams
from slotwise.solver.exhaustive.partial_placement import PARTS, RULES
from slotwise.solver.exhaustive.search import Search


@declares(RULES, PARTS)
def supports(problem: Problem, params: ExhaustiveParams = EXHAUSTIVE_DEFAULTS) -> str | None:
    """Return ``None``, or why the problem is too large to enumerate."""
    tasks = problem.task_count
    if tasks > params.max_tasks:
        return f"{tasks} tasks; exhaustive search takes at most {params.max_tasks}"
    placements = _estimate(problem)
    if placements > params.max_placements:
        return (
            f"about {placements:.0e} placements of {tasks} tasks on {problem.node_count} nodes; "
            f"exhaustive search takes at most {params.max_placements:.0e}"
        )
    return None


def run(
    problem: Problem, limits: Limits, hint: Placement | None, reporter: Reporter | None = None
) -> Outcome:
    """Search all placements; deterministic work counts the places tried.

    It is over so soon that it tells nothing while it runs.
    """
    search = Search(Incumbent(problem, reporter or null_reporter(problem, "exhaustive")), limits)
    finished = search.run(hint)
    best, proof = search.best, ""
    if finished:
        if best.values is None:
            best.prove_infeasible()
        else:
            best.prove(best.values)
        proof = f"all placements enumerated up to symmetry, {search.tried} places tried"
    return best.outcome(proof, float(search.tried))


def _engine(params: ExhaustiveParams) -> Engine:
    return Engine(
        name="exhaustive",
        run=run,
        supports=partial(supports, params=params),
        version=lambda: version("slotwise"),
    )


EXHAUSTIVE = configurable(_engine, EXHAUSTIVE_DEFAULTS)


def _estimate(problem: Problem) -> float:
    """Return about how many placements there are, tasks of a class being interchangeable.

    Partitions of T tasks into w workers, each on one of N nodes: sum over w of S(T, w) * N**w,
    with Stirling numbers of the second kind; then divided by the permutations inside classes.
    """
    partitions: list[int] = [1]
    for _ in range(problem.task_count):
        partitions = [
            w * stay + new
            for w, (stay, new) in enumerate(zip([*partitions, 0], [0, *partitions], strict=True))
        ]
    total: int = sum(count * problem.node_count**w for w, count in enumerate(partitions))
    return float(total / math.prod(math.factorial(size) for size in problem.sizes))
