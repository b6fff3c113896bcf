"""Explaining an instance, a method's failure, a placement, or the difference of two."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Unpack

from slotwise.api import explanation_questions as questions
from slotwise.api.explanation_answers import Explained
from slotwise.api.explanation_questions import PricesLike, as_prices
from slotwise.api.inputs import (
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_instance,
    as_placement,
    compiled_as,
    warn_of_unoffered,
)
from slotwise.api.placing import as_method
from slotwise.heuristics.method import Method
from slotwise.models.display import kind_of
from slotwise.models.errors import InputError
from slotwise.models.instance.lost_nodes import without_nodes as without
from slotwise.models.values import time_limit, whole


def explain(
    instance: InstanceLike,
    placement: PlacementLike | None = None,
    other: PlacementLike | None = None,
    *,
    method: str | Method | None = None,
    task: str | None = None,
    optimal: bool = False,
    time_limit_s: float = 20.0,
    workers: int = 1,
    seed: int = 0,
    prices: PricesLike = None,
    without_nodes: Collection[str] = (),
    **decoded: Unpack[DecodedCluster],
) -> Explained:
    """Explain an instance, a method's failure, a placement, or the difference of two.

    Parameters
    ----------
    instance
        What to explain: an `Instance`, a compiled problem, a path, a dict or text; see
        `read_instance`. Alone: whether it has a placement and, if not, why and how to repair it.
    placement, other
        A placement to explain, and one to compare it with; see `read_placement`.
    method
        Explain where this method goes wrong: a name or a `Method`; without `placement`.
    task
        Explain why this task of `placement` is where it is, for example ``wc/split[1]``.
    optimal
        Whether to solve the instance as well and report how far `placement` is from the optimum.
    time_limit_s
        Wall clock in seconds: of the whole explanation of an instance, otherwise for each
        search.
    workers, seed
        Threads of each search, and the seed of every random choice.
    prices
        Prices of repairs: a dict such as ``{"node": 3, "resource.gpu": 7}``, texts such as
        ``["node=3"]``, or `RepairPrices`, which defines them; ``None`` = its defaults. Without
        `placement`.
    without_nodes
        Ids of machines that died: the cluster has them no more, and the tasks that ran there run
        nowhere. Placements in the answer are those of the instance without them, in its document
        those of `instance`. Without `placement`.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Raises
    ------
    InputError
        For bad input, and for questions that cannot be combined.

    Examples
    --------
    >>> import slotwise
    >>> answer = slotwise.explain("docs/examples/tight.json", method="r-storm")
    >>> answer.mistake.possible, answer.mistake.impossible
    (1, 2)
    """
    check_question(placement is not None, other is not None, method, task, optimal)
    warn_of_unoffered(instance)
    if without_nodes and placement is not None:
        rule = "takes no `placement`: it explains an instance or a method"
        raise InputError(rule, field="without_nodes", value=",".join(without_nodes))
    if prices is not None and placement is not None:
        rule = "takes no `placement`: only repairs of an instance have prices"
        raise InputError(rule, field="prices", has_value=False)
    given = left = as_instance(instance, **decoded)
    if without_nodes:
        instance = left = without(given, without_nodes)
    problem = compiled_as(instance, left)
    limits = questions.Limits(
        time_limit(time_limit_s, "time_limit_s"),
        whole(workers, "workers", least=1),
        whole(seed, "seed"),
        as_prices(prices),
    )
    if placement is None:
        if method is None:
            return replace(questions.one_instance(problem, limits), given=given)
        return replace(questions.one_method(problem, as_method(method), limits), given=given)
    first = as_placement(placement, given)
    if other is not None:
        return questions.comparison(problem, first, as_placement(other, given))
    if task is not None:
        return questions.one_task(problem, first, task)
    return questions.one_placement(problem, first, limits, optimal=optimal)


def check_question(
    placement: bool, other: bool, method: str | Method | None, task: object, optimal: bool
) -> None:
    """Raise `InputError` for questions and options that cannot be combined."""
    if other and not placement:
        raise InputError("needs a placement to compare it with", field="other", has_value=False)
    if method is not None and placement:
        name = getattr(method, "name", method)
        rule = "explains its own run, so it takes no placement"
        raise InputError(rule, field="method", value=name)
    if task is not None and not isinstance(task, str):
        rule = f"must be the name of a task, not {kind_of(task)}"
        raise InputError(rule, field="task", has_value=False)
    if task is not None and (not placement or other):
        raise InputError(
            "needs one placement that it is in, and no other", field="task", value=task
        )
    if optimal and (not placement or other or task is not None):
        rule = "needs one placement, and no other and no task"
        raise InputError(rule, field="optimal", has_value=False)
