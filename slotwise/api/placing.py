"""Placing with a published method."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Unpack

from slotwise.api.exit_code import Exit
from slotwise.api.inputs import DecodedCluster, InstanceLike, as_problem, warn_of_unoffered
from slotwise.heuristics.method import Method
from slotwise.heuristics.registry import find_method
from slotwise.heuristics.run import run_method
from slotwise.models.display import kind_of
from slotwise.models.errors import InputError
from slotwise.models.formats.placement_file import placement_document
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.instance_file import instance_hash
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Placed:
    """A method's answer: a judged placement, or the reason of its refusal."""

    instance: Instance
    method: str
    seed: int
    seconds: float
    placement: Placement | None
    verdict: Verdict | None
    refused: str | None

    @property
    def status(self) -> str:
        """``feasible``, ``violated`` (breaks a hard rule) or ``refused``."""
        if self.verdict is None:
            return "refused"
        return "feasible" if self.verdict.valid else "violated"

    @property
    def exit_code(self) -> Exit:
        """Of ``place``: failed unless the placement keeps every hard rule."""
        return Exit.DONE if self.status == "feasible" else Exit.FAILED

    def to_document(self) -> dict[str, Any]:
        """Return what ``place --json`` prints."""
        judged = {} if self.verdict is None else self.verdict.to_document()
        placement = self.placement
        return {
            "status": self.status,
            "reason": self.refused,
            "objective": judged.get("objective", []),
            "violations": judged.get("violations", []),
            "method": self.method,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "instance": instance_hash(self.instance),
            "placement": None
            if placement is None
            else placement_document(self.instance, placement),
        }


def place(
    instance: InstanceLike,
    method: str | Method,
    *,
    seed: int = 0,
    **decoded: Unpack[DecodedCluster],
) -> Placement | Refusal:
    """Run a published method.

    Parameters
    ----------
    instance
        What to place: an `Instance`, a compiled problem, a path, a dict or text; see
        `read_instance`.
    method
        Name as ``slotwise methods`` lists it, for example ``r-storm``, ``cmd:COMMAND`` for a
        program of your own, or a `Method`.
    seed
        Of every random choice, 0 or more.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Returns
    -------
    Placement | Refusal
        The placement is not judged: it may break hard rules where the published method does.

    Raises
    ------
    InputError
        For bad input, when there is no such method, or its answer is not one for this instance.
    MethodError
        When the method breaks down: a command fails, or code of another package raises something.

    Examples
    --------
    >>> import slotwise
    >>> placement = slotwise.place("docs/examples/word-count.json", "r-storm")
    >>> placement.nodes
    (0, 0, 0, 1, 1, 1, 0, 0, 1)
    """
    chosen = as_method(method)
    warn_of_unoffered(instance)
    return run_method(as_problem(instance, **decoded), chosen, seed)


def place_and_judge(problem: Problem, method: Method, seed: int) -> Placed:
    """Place with `method` and judge the placement."""
    instance = problem.instance
    begin = time.perf_counter()
    answer = place(problem, method, seed=seed)
    seconds = time.perf_counter() - begin
    if isinstance(answer, Refusal):
        return Placed(instance, method.name, seed, seconds, None, None, answer.reason)
    return Placed(instance, method.name, seed, seconds, answer, judge(problem, answer), None)


def as_method(given: object) -> Method:
    """Return `given`, a method or its name, as a method.

    Raises
    ------
    InputError
        For anything else, and as `find_method` does.
    """
    if isinstance(given, Method):
        return given
    if isinstance(given, str):
        return find_method(given)
    rule = f"must be the name of a method or a Method, not {kind_of(given)}"
    raise InputError(rule, field="method", has_value=False)
