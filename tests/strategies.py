"""Tiny instances for Hypothesis, from the same grammar as the seeded ones.

The first alternative is always the plainest, so that Hypothesis shrinks towards one node, one task
and no rule at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from slotwise.models.instance.instance import Instance
from slotwise.testing.instances.tiny import make_instance, tiny_instance
from slotwise.testing.rule_coverage import RULES, rules_in

__all__ = ["RULES", "instances", "rules_in", "tiny_instance"]


@dataclass(frozen=True)
class FromHypothesis:
    """Choices that Hypothesis draws and shrinks."""

    draw: st.DrawFn

    def whole(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


@st.composite
def instances(draw: st.DrawFn, most_tasks: int = 6, most_nodes: int = 4) -> Instance:
    """Tiny instances of every kind."""
    return make_instance(FromHypothesis(draw), most_tasks, most_nodes)
