"""The checks by name, and how people write them: ``valid``, ``gap<=0.1``, ``admits>=0.9``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from slotwise.heuristics.method import MethodError
from slotwise.models.errors import InputError, suggestion
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.testing.checks.edges import edges, far_apart
from slotwise.testing.checks.finding import Finding
from slotwise.testing.checks.properties import (
    admits,
    ends_within,
    gap_is_at_most,
    ignores_names,
    ignores_order,
    is_complete,
    is_deterministic,
    is_no_worse_with_more,
    is_valid,
    moves_at_most,
    survives_node_loss,
)
from slotwise.testing.checks.scheduler import CHANGES_INPUT, Testable, as_scheduler
from slotwise.testing.checks.trial import Trial

Property: TypeAlias = Callable[[Trial, Instance], Finding | None]

BREAKS_DOWN = "breaks down"
"""Kind of the finding of a scheduler that gives no answer."""

WRITTEN = re.compile(r"\s*([a-z-]+)\s*(?:(<=|>=)\s*(\S+)\s*)?")


@dataclass(frozen=True, slots=True)
class Check:
    """A check as it stands in the table; with its threshold it is a `Demand`.

    Parameters
    ----------
    name
        As people write it.
    asks
        What it asks of a scheduler, in one sentence.
    bound
        The property for a threshold; a repr leaves it out.
    sense
        ``<=`` or ``>=`` before its threshold; empty = it has none.
    most
        Largest threshold that makes sense.
    """

    name: str
    asks: str
    bound: Callable[[float], Property] = field(repr=False)
    sense: str = ""
    most: float = math.inf

    @property
    def is_share(self) -> bool:
        """Whether it may fail on a share of the instances, which the threshold says."""
        return self.sense == ">="

    @property
    def has_kinds(self) -> bool:
        """Whether it fails in ways that are worth telling apart: by the rule that is broken."""
        return self.name == "valid"

    @property
    def edges(self) -> Callable[[Instance, Placement], Iterable[Instance]] | None:
        """What it also looks at: instances made so that an answer is just wrong for them."""
        return {"valid": edges, "gap": far_apart}.get(self.name)


@dataclass(frozen=True, slots=True)
class Demand:
    """A check with its threshold, 0.0 where it has none."""

    check: Check
    threshold: float = 0.0

    def __str__(self) -> str:
        """As people write it."""
        sense = self.check.sense
        return f"{self.check.name}{sense}{self.threshold:g}" if sense else self.check.name

    def holds(self, scheduler: Testable | Trial, instance: Instance) -> Finding | None:
        """Return what is wrong on one instance; ``None`` = nothing.

        A share is 1 here: one instance on which it does not hold is a finding. A scheduler that
        breaks down is always one.

        Raises
        ------
        NotJudgedError
            When the check says nothing of this instance: the reason.
        """
        trial = scheduler if isinstance(scheduler, Trial) else Trial(as_scheduler(scheduler))
        try:
            return self.check.bound(self.threshold)(trial, instance)
        except MethodError as error:
            if error.changes_input:
                return Finding(str(error), (CHANGES_INPUT,))
            return Finding(f"breaks down: {error}", (BREAKS_DOWN,))


def _plain(held: Property) -> Callable[[float], Property]:
    return lambda threshold: held


def _limited(
    held: Callable[[Trial, Instance, float], Finding | None],
) -> Callable[[float], Property]:
    return lambda most: lambda trial, instance: held(trial, instance, most)


_ALL = (
    Check("valid", "No hard rule is broken, as the judge sees it.", _plain(is_valid)),
    Check("complete", "Every topology that is not refused is placed whole.", _plain(is_complete)),
    Check(
        "deterministic", "The same instance and seed: the same answer.", _plain(is_deterministic)
    ),
    Check("names", "Other names of nodes and components: the same cost.", _plain(ignores_names)),
    Check("order", "Nodes and components in reverse order: the same cost.", _plain(ignores_order)),
    Check("capacity", "With more capacity nothing gets worse.", _plain(is_no_worse_with_more)),
    Check("node-loss", "When a node is lost, all that fits is placed.", _plain(survives_node_loss)),
    Check(
        "admits",
        "Share of placeable instances that are placed, whole and validly.",
        _plain(admits),
        ">=",
        1,
    ),
    Check("gap", "Gap to the proven optimum.", _limited(gap_is_at_most), "<="),
    Check("moves", "Running tasks moved, where that few suffice.", _limited(moves_at_most), "<="),
    Check("time", "Seconds until the answer.", _limited(ends_within), "<="),
)

CHECKS: dict[str, Check] = {check.name: check for check in _ALL}
"""All checks, in the order in which they are made."""

DEFAULT = tuple(Demand(check) for check in _ALL if not check.sense)
"""The checks that need no threshold."""


def parse_demand(text: str) -> Demand:
    """Return the check that a text asks for: ``valid``, ``gap<=0.1``.

    Raises
    ------
    InputError
        When there is no such check, or its threshold is missing, too much, or no number.
    """
    match = WRITTEN.fullmatch(text)
    name, sense, number = match.groups() if match else (re.split("[<>=]", text)[0], "", "")
    check = CHECKS.get(name)
    if check is None:
        raise InputError(f"unknown check; {suggestion(name, CHECKS)}", field="check", value=text)
    if match is None or (sense or "") != check.sense:
        rule = f"write {name}{check.sense}{'NUMBER' if check.sense else ''}"
        raise InputError(rule, field="check", value=text)
    return Demand(check, 0.0 if number is None else _threshold(check, number, text))


def _threshold(check: Check, number: str, text: str) -> float:
    rule = "must have a threshold that is a number"
    try:
        threshold = float(number)
    except ValueError as error:
        raise InputError(rule, field="check", value=text) from error
    least_excluded = check.name == "time" and threshold == 0
    if not 0 <= threshold <= check.most or math.isinf(threshold) or least_excluded:
        most = "" if math.isinf(check.most) else f" and at most {check.most:g}"
        least = "above 0" if check.name == "time" else "0 or more"
        raise InputError(f"{rule}, {least}{most}", field="check", value=text)
    return threshold
