"""Judging a placement, whoever made it."""

from __future__ import annotations

from typing import Unpack

from slotwise.api.inputs import (
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_problem,
    check_one_placement,
    placed_or_running,
)
from slotwise.models.judge import judge as judging
from slotwise.models.judge.verdict import Verdict


def judge(
    instance: InstanceLike,
    placement: PlacementLike | None = None,
    *,
    running: bool = False,
    **decoded: Unpack[DecodedCluster],
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
    running
        Judge the current placement, the instance's `running`, in place of another. Tasks that
        do not run yet have no place.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, a placement that is not of this instance, an instance without `running`, or
        both or neither of `placement` and `running`. A broken rule is not an error: it is listed in
        `Verdict.violations`.

    Examples
    --------
    >>> import slotwise
    >>> plan = {"wc": {"lines[0]": {"node": "n1", "worker": 0}}}
    >>> verdict = slotwise.judge("docs/examples/word-count.json", plan)
    >>> print(verdict.violations[0])
    placed: topology wc, tasks: 9 needed, 1 placed
    """
    check_one_placement(placement, running)
    problem = as_problem(instance, **decoded)
    return judging.judge(problem, placed_or_running(placement, problem))
