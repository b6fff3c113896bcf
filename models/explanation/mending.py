"""A broken rule in words, and how to repair it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from slotwise.models.judge.verdict import Violation
from slotwise.models.values import plain, short_text


@dataclass(frozen=True, slots=True)
class Mending:
    """A violation with its meaning and remedy, both sentences without a full stop."""

    violation: Violation
    meaning: str
    remedy: str

    def to_document(self) -> dict[str, Any]:
        """Return the sentences and the violation as JSON-ready data."""
        v = self.violation
        return {
            "rule": v.rule,
            "place": v.place,
            "subject": v.subject,
            "needed": plain(v.needed),
            "available": plain(v.available),
            "meaning": self.meaning,
            "remedy": self.remedy,
        }


def mending(violation: Violation) -> Mending:
    """Return `violation` in words."""
    meaning, remedy = _WORDS.get(violation.rule, _plain)(violation)
    return Mending(violation, meaning, remedy)


def cause(violation: Violation) -> str:
    """Return the violation as the reason why something is forbidden, for the end of a sentence."""
    return _WORDS.get(violation.rule, _plain)(violation)[0]


_Words = tuple[str, str]


def _excess(v: Violation) -> str:
    return short_text(v.needed - v.available)


def _plain(v: Violation) -> _Words:
    """Describe the violation of a rule that has no words of its own."""
    rule = v.rule.replace("_", " ")
    return (
        f"{v.place} breaks the rule {rule} for {v.subject}: {short_text(v.needed)} against at most "
        f"{short_text(v.available)}",
        f"move some of {v.subject} elsewhere, or drop the rule",
    )


def _placed(v: Violation) -> _Words:
    missing = v.needed - v.available
    if missing == 1:
        return f"1 task of {v.place} has no place", "place it"
    return f"{short_text(missing)} tasks of {v.place} have no place", "place them"


def _capacity(v: Violation) -> _Words:
    return (
        f"{v.place} needs {short_text(v.needed)} {v.subject} and has {short_text(v.available)}",
        f"move tasks with {_excess(v)} {v.subject} or more to other nodes, or raise its "
        f"{v.subject} to {short_text(v.needed)}",
    )


def _slots(v: Violation) -> _Words:
    return (
        f"{v.place} needs {short_text(v.needed)} workers and has {_count(v, 'slot')}",
        f"empty {_excess(v)} of its workers, or give it {short_text(v.needed)} slots",
    )


def _one_topology(v: Violation) -> _Words:
    return f"{v.place} holds tasks of {v.subject}", "give each topology a worker of its own"


def _heap(v: Violation) -> _Words:
    return (
        f"{v.place} needs {short_text(v.needed)} MB of {v.subject} and may have "
        f"{short_text(v.available)}",
        f"move tasks with {_excess(v)} MB on-heap or more to other workers, or raise "
        f"worker_max_heap_mb to {short_text(v.needed)}",
    )


def _one_task(v: Violation) -> _Words:
    return (
        f"{v.place} holds {short_text(v.needed)} tasks; {v.subject} allows one task per worker",
        f"move {_excess(v)} of them to other workers",
    )


def _one_component(v: Violation) -> _Words:
    return (
        f"{v.place} holds tasks of {short_text(v.needed)} components; {v.subject} allows one "
        "component per worker",
        "leave one component there and move the others to other workers",
    )


def _incompatible(v: Violation) -> _Words:
    a, _, b = v.subject.partition(" and ")
    if a == b:
        return (
            f"{v.place} holds {short_text(v.needed)} tasks of {a}, which may not share a worker",
            f"move {_excess(v)} of them to other workers",
        )
    return (
        f"{v.place} holds {v.subject}, which may not share a worker",
        f"move the tasks of {a} or those of {b} to another worker",
    )


def _per_node(v: Violation) -> _Words:
    return (
        f"{v.place} holds {short_text(v.needed)} tasks of {v.subject}; at most "
        f"{short_text(v.available)} may share a node",
        f"move {_excess(v)} of them to other nodes",
    )


def _moved(v: Violation) -> _Words:
    return (
        f"{_count(v, 'running task', needed=True)} would move; at most "
        f"{short_text(v.available)} may",
        f"leave {_excess(v)} more of them where they run",
    )


def _count(v: Violation, noun: str, *, needed: bool = False) -> str:
    count = v.needed if needed else v.available
    return f"{short_text(count)} {noun}{'' if count == 1 else 's'}"


_WORDS: dict[str, Callable[[Violation], _Words]] = {
    "placed": _placed,
    "capacity": _capacity,
    "slots": _slots,
    "one_topology_per_worker": _one_topology,
    "heap": _heap,
    "one_task_per_worker": _one_task,
    "one_component_per_worker": _one_component,
    "incompatible": _incompatible,
    "max_per_node": _per_node,
    "max_moved": _moved,
}
