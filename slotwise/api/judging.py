"""Judging a placement, whoever made it."""

from __future__ import annotations

from slotwise.api.inputs import InstanceLike, MinCpu, PlacementLike, as_placement, as_problem
from slotwise.models.judge import judge as judging
from slotwise.models.judge.verdict import Verdict


def judge(
    instance: InstanceLike,
    placement: PlacementLike,
    *,
    topology: str | None = None,
    worker_min_cpu: MinCpu = None,
    submitters: bool = False,
) -> Verdict:
    """Check every hard rule and compute every cost of a placement.

    Parameters
    ----------
    instance
        What was placed: an `Instance`, a compiled problem, a path, a dict or text; see
        `read_instance`.
    placement
        A `Placement`, a path or a dict, also of places by name; see `read_placement`. Topologies
        may be left out whole only where the objective has ``rejected``.
    topology, worker_min_cpu, submitters
        How a decoded Storm cluster is read; see `read_instance`.

    Raises
    ------
    InputError
        For bad input, or a placement that is not of this instance. A broken rule is no error: it
        is listed in `Verdict.violations`.

    Examples
    --------
    >>> import slotwise
    >>> plan = {"wc": {"lines[0]": {"node": "n1", "worker": 0}}}
    >>> verdict = slotwise.judge("docs/examples/word-count.json", plan)
    >>> print(verdict.violations[0])
    placed: topology wc, tasks: 9 needed, 1 placed
    """
    problem = as_problem(instance, topology, worker_min_cpu, submitters)
    return judging.judge(problem, as_placement(placement, problem.instance))
