"""A case: an instance and a placement that just keeps, or just breaks, one rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.judge import rules

RULES = tuple(rule.name for rule in rules.RULES.values() if rule.is_hard)
"""The hard rules, by the names that the judge's violations have."""

MOST_TASKS, MOST_NODES = 3, 2
"""No case has more."""

Scene = tuple[Instance, Placement]
Build = Callable[[st.DrawFn, bool], Scene]
"""Draw a scene; true = the rule is broken, false = it is just kept."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a validator is asked about.

    Parameters
    ----------
    rule
        One of `RULES`.
    sub_case
        The part of the rule that it is about.
    keeps
        Whether the placement keeps every rule; otherwise it breaks `rule` and no other.
    instance, placement
        At most `MOST_TASKS` tasks on `MOST_NODES` nodes.
    """

    rule: str
    sub_case: str
    keeps: bool
    instance: Instance
    placement: Placement

    @property
    def size(self) -> str:
        """How many tasks and nodes, for people."""
        tasks, nodes = len(self.placement.nodes), len(self.instance.cluster.nodes)
        return f"{tasks} task{'s' * (tasks != 1)}, {nodes} node{'s' * (nodes != 1)}"


@dataclass(frozen=True, slots=True)
class SubCase:
    """One part of a rule, with the strategies of its two sides.

    Parameters
    ----------
    rule
        One of `RULES`.
    name
        What it is about; unique in the rule.
    build
        See `Build`. Where the rule has a limit, the placement is exactly at it, or above it by one
        unit.
    """

    rule: str
    name: str
    build: Build

    def cases(self, *, keeps: bool) -> st.SearchStrategy[Case]:
        """Return the strategy of the cases that just keep, or just break, the rule."""

        @st.composite
        def case(draw: st.DrawFn) -> Case:
            instance, placement = self.build(draw, not keeps)
            return Case(self.rule, self.name, keeps, instance, placement)

        return case()
