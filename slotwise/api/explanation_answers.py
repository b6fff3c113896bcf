"""The answers of ``explain``: one class per question, with its document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from slotwise.api.exit_code import Exit
from slotwise.models.display import block, counted, html_line, html_table
from slotwise.models.errors import InputError, suggestion
from slotwise.models.explanation.alternatives import Alternative
from slotwise.models.explanation.cost_split import CostSplit
from slotwise.models.explanation.mending import Mending, mending
from slotwise.models.formats.placement_file import placement_document
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.lost_nodes import in_whole
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_hash
from slotwise.models.judge.moves import TaskMove
from slotwise.models.judge.verdict import Verdict
from slotwise.models.problem.problem import Problem
from slotwise.models.values import plain, short_text
from slotwise.solver.core.result import Result, Status
from slotwise.solver.explain.comparison import Comparison, FewestMoves
from slotwise.solver.explain.explanation import Explanation
from slotwise.solver.explain.first_mistake import FirstMistake, TracedRun

# How answers of ``explain`` are shown: a few lines, and a table in notebooks.

Row = tuple[str, str]
"""The subject of a line, and its text."""


class Shown:
    """An answer that is shown as a headline with rows below it."""

    __slots__ = ()

    def __repr__(self) -> str:
        """At most five lines."""
        head, rows = self._shown()
        return block(head, [f"{about}: {text}" for about, text in rows])

    def _repr_html_(self) -> str:
        head, rows = self._shown()
        return html_line(head) + html_table(("", ""), rows, len(rows))

    def _shown(self) -> tuple[str, list[Row]]:
        raise NotImplementedError


def values(verdict: Verdict) -> str:
    """Return the values of the terms: ``overload 0, network 23``."""
    return ", ".join(f"{term.term} {short_text(term.value)}" for term in verdict.objective)


def stream_rows(split: CostSplit) -> list[Row]:
    """Return the network cost of each stream, the dearest first."""
    return [(f"{s.source} -> {s.target}", f"network {short_text(s.total)}") for s in split.streams]


def infeasible_rows(explanation: Explanation) -> list[Row]:
    """Return the first conflict, then the repairs with their prices."""
    rows = [("conflict", conflict.summary) for conflict in explanation.conflicts[:1]]
    return rows + [
        (f"repair at price {short_text(one.price)}", one.text) for one in explanation.repairs
    ]


def mistake_rows(instance: Instance, mistake: FirstMistake | None) -> list[Row]:
    """Return the decision after which no completion exists, if it is known."""
    wrong = None if mistake is None else mistake.decision
    if mistake is None or wrong is None:
        return []
    task = "/".join(instance.task_names()[wrong.task])
    where = f"{task} on {instance.cluster.nodes[wrong.node].id}, worker {wrong.worker}"
    return [(f"decision {mistake.possible + 1} made it impossible", where)]


def comparison_head(comparison: Comparison) -> str:
    """Return the number of tasks that differ and the change of each term."""
    moves = len(comparison.moves)
    differ = f"{counted(moves, 'task')} differ{'s' if moves == 1 else ''}"
    changes = [
        f"{term} {short_text(one)} -> {short_text(two)}" for term, one, two in comparison.terms
    ]
    return "; ".join((differ, ", ".join(changes)))


def move_rows(moves: Iterable[TaskMove]) -> list[Row]:
    """Return where each task is in the first and in the second placement."""
    return [(move.name, f"{_place(move.before)} -> {_place(move.after)}") for move in moves]


def _place(place: tuple[str, int] | None) -> str:
    return "no place" if place is None else f"{place[0]}, worker {place[1]}"


def place_rows(places: Iterable[Alternative]) -> list[Row]:
    """Return the cost of each other place, or the rules that forbid it."""
    return [(f"{p.node}, worker {p.worker}", _verdict_on(p)) for p in places if not p.here]


def _verdict_on(place: Alternative) -> str:
    if place.forbidden_by:
        return "; ".join(map(str, place.forbidden_by))
    changes = [f"{term} {_signed(value)}" for term, value in place.change.items() if value]
    return ", ".join(changes) or "no change"


def _signed(value: Fraction) -> str:
    return f"{'+' if value > 0 else ''}{short_text(value)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExplainedInstance(Shown):
    """Whether an instance has a placement, with its cost in detail, or the reason why not.

    `result` is that of `solve`, ``None`` where counting alone proves that there is no placement.
    Where topologies are left out, `infeasible` says why not all of them can be placed.
    `run` is that of the method in question, where no method could place all tasks. `given` is the
    instance of the file, with the nodes that died: placements are written for it; ``None`` = that
    of `problem`.
    """

    problem: Problem
    result: Result | None
    split: CostSplit | None
    infeasible: Explanation | None
    run: TracedRun | None = None
    given: Instance | None = None

    @property
    def status(self) -> Status:
        """The status of the instance."""
        return Status.INFEASIBLE if self.result is None else self.result.status

    @property
    def placement(self) -> Placement | None:
        """The best placement found; ``None`` where there is none."""
        return None if self.result is None else self.result.placement

    @property
    def exit_code(self) -> Exit:
        """Of ``explain``: as of ``solve``."""
        result = self.result
        if result is not None and result.interrupted and result.status is not Status.OPTIMAL:
            return Exit.INTERRUPTED
        if self.status is Status.INFEASIBLE:
            return Exit.FAILED
        return Exit.NO_ANSWER if self.placement is None else Exit.DONE

    def to_document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        infeasible = self.infeasible
        return {
            "question": "instance",
            "status": str(self.status),
            "instance": instance_hash(self.problem.instance),
            "objective": [
                {"term": t.term, "value": plain(t.value), "proven": t.proven}
                for t in (self.result.objective if self.result else ())
                if t.value is not None
            ],
            "cost": None if self.split is None else self.split.to_document(),
            "method": None if self.run is None else self.run.method,
            "infeasible": None if infeasible is None else infeasible.to_document(),
            "placement": _placement_or_none(self, self.placement),
        }

    def _shown(self) -> tuple[str, list[Row]]:
        head = f"ExplainedInstance {self.problem.instance.name}: {self.status}"
        if self.infeasible is not None:
            return head, infeasible_rows(self.infeasible)
        if self.split is not None:
            return f"{head}; {values(self.split.verdict)}", stream_rows(self.split)
        return head, []


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExplainedMethod(Shown):
    """A method's failure: its run, and its first mistake if it records its decisions.

    `missed_placement` is a valid placement of all tasks (``None``: not found within the limit, or
    the method did not fail), `missed` has its cost in detail, `nearest` is the valid placement
    nearest to the method's own, if it has one. `not_told` says why there is no first mistake, if
    there is none. `remaining` is the conflict of the tasks that fit alone but not together, if it
    was found. `given` is as in `ExplainedInstance`.
    """

    problem: Problem
    run: TracedRun
    missed: CostSplit | None = None
    missed_placement: Placement | None = None
    mistake: FirstMistake | None = None
    nearest: FewestMoves | None = None
    not_told: str = ""
    remaining: Explanation | None = None
    given: Instance | None = None

    @property
    def exit_code(self) -> Exit:
        """Of ``explain --with``: failed where the method missed a placement."""
        if not self.run.failed:
            return Exit.DONE
        return Exit.NO_ANSWER if self.missed_placement is None else Exit.FAILED

    def to_document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        run, verdict = self.run, self.run.verdict
        judged = {} if verdict is None else verdict.to_document()
        instance = self.problem.instance
        return {
            "question": "method",
            "method": run.method,
            "seed": run.seed,
            "status": "refused" if verdict is None else "placed" if not run.failed else "violated",
            "reason": run.refused,
            "instance": instance_hash(instance),
            "objective": judged.get("objective", []),
            "violations": judged.get("violations", []),
            "first_mistake": _mistake_or_none(instance, self.mistake),
            "not_told": self.not_told or None,
            "missed": _placement_or_none(self, self.missed_placement),
            "missed_cost": None if self.missed is None else self.missed.to_document(),
            "nearest": _nearest_or_none(self, self.nearest),
            "placement": _placement_or_none(self, run.placement),
        }

    def _shown(self) -> tuple[str, list[Row]]:
        run, instance = self.run, self.problem.instance
        ended = "places all tasks" if not run.failed else "leaves topologies out"
        if run.refused is not None:
            ended = f"refuses: {run.refused}"
        elif run.verdict is not None and not run.verdict.valid:
            ended = f"breaks {counted(len(run.verdict.violations), 'hard rule')}"
        rows = mistake_rows(instance, self.mistake)
        if self.missed is not None:
            rows.append(("a placement that it missed", values(self.missed.verdict)))
        return f"ExplainedMethod {instance.name}: {run.method} {ended}", rows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExplainedPlacement(Shown):
    """The broken rules with possible repairs, or the cost in detail."""

    problem: Problem
    placement: Placement
    split: CostSplit
    mendings: tuple[Mending, ...]
    nearest: FewestMoves | None
    optimal: Result | None

    @property
    def exit_code(self) -> Exit:
        """Of ``explain``: as of ``judge``."""
        return Exit.DONE if self.split.verdict.valid else Exit.FAILED

    def to_document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        optimal = self.optimal
        instance = self.problem.instance
        return {
            "question": "placement",
            "instance": instance_hash(instance),
            **self.split.verdict.to_document(),
            "cost": self.split.to_document(),
            "mendings": [one.to_document() for one in self.mendings],
            "nearest": _nearest_or_none(self, self.nearest),
            "optimal": None if optimal is None else optimal.to_document(),
        }

    def _shown(self) -> tuple[str, list[Row]]:
        verdict = self.split.verdict
        state = "valid" if verdict.valid else f"breaks {counted(len(self.mendings), 'hard rule')}"
        head = f"ExplainedPlacement {self.problem.instance.name}: {state}; {values(verdict)}"
        broken = [(one.meaning, one.remedy) for one in self.mendings]
        return head, broken or stream_rows(self.split)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExplainedComparison(Shown):
    """Where two placements differ."""

    problem: Problem
    placements: tuple[Placement, Placement]
    comparison: Comparison

    @property
    def exit_code(self) -> Exit:
        """Of ``explain``: as of ``judge``, of both."""
        both = (self.comparison.first, self.comparison.second)
        return Exit.DONE if all(one.verdict.valid for one in both) else Exit.FAILED

    def to_document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        both = (self.comparison.first, self.comparison.second)
        return {
            "question": "comparison",
            "instance": instance_hash(self.problem.instance),
            "valid": [one.verdict.valid for one in both],
            **self.comparison.to_document(),
        }

    def _shown(self) -> tuple[str, list[Row]]:
        head = f"ExplainedComparison {self.problem.instance.name}: "
        return head + comparison_head(self.comparison), move_rows(self.comparison.moves)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExplainedTask(Shown):
    """Why a task is where it is."""

    problem: Problem
    placement: Placement
    task: int
    places: tuple[Alternative, ...]
    split: CostSplit

    @property
    def name(self) -> str:
        """The task's name with its topology."""
        return "/".join(self.problem.instance.task_names()[self.task])

    @property
    def exit_code(self) -> Exit:
        """Of ``explain --task``: as of ``judge``."""
        return Exit.DONE if self.split.verdict.valid else Exit.FAILED

    def to_document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "question": "task",
            "task": self.name,
            "instance": instance_hash(self.problem.instance),
            "valid": self.split.verdict.valid,
            "places": [place.to_document() for place in self.places],
        }

    def _shown(self) -> tuple[str, list[Row]]:
        here = next(place for place in self.places if place.here)
        head = f"ExplainedTask {self.name}: on {here.node}, worker {here.worker}"
        return head, place_rows(self.places)


Explained = (
    ExplainedInstance | ExplainedMethod | ExplainedPlacement | ExplainedComparison | ExplainedTask
)


def task_index(instance: Instance, written: str) -> int:
    """Return the index of a task written ``topology/component[index]``; raises `InputError`.

    The topology may be left out where there is only one.
    """
    names = instance.task_names()
    known: Mapping[tuple[str, str], int] = {name: i for i, name in enumerate(names)}
    index = known.get(instance.task_of(written))
    if index is None:
        rule = suggestion(written, ["/".join(name) for name in names])
        raise InputError(f"is not a task of the instance; {rule}", field="task", value=written)
    return index


def in_given(answer: Explained, placement: Placement) -> tuple[Instance, Placement]:
    """Return the instance of the file, and a placement of an answer as one of it."""
    instance = answer.problem.instance
    given = answer.given if isinstance(answer, ExplainedInstance | ExplainedMethod) else None
    return (instance, placement) if given is None else (given, in_whole(instance, given, placement))


def _placement_or_none(answer: Explained, placement: Placement | None) -> dict[str, Any] | None:
    """Return a placement as its file has it; ``None`` = there is none."""
    return None if placement is None else placement_document(*in_given(answer, placement))


def _mistake_or_none(instance: Instance, mistake: FirstMistake | None) -> dict[str, Any] | None:
    """Return the first mistake of a method as JSON-ready data; ``None`` = it is not known."""
    if mistake is None:
        return None
    names = ["/".join(name) for name in instance.task_names()]
    nodes = [node.id for node in instance.cluster.nodes]
    return {
        "decisions": [
            {"task": names[one.task], "node": nodes[one.node], "worker": one.worker}
            for one in mistake.decisions
        ],
        "possible": mistake.possible,
        "impossible": mistake.impossible,
        "settled": mistake.settled,
        "broken": [mending(one).to_document() for one in mistake.broken],
        "stuck": [
            {"task": names[one.task], "places": [place.to_document() for place in one.places]}
            for one in mistake.stuck
        ],
    }


def _nearest_or_none(answer: Explained, nearest: FewestMoves | None) -> dict[str, Any] | None:
    """Return the nearest valid placement as JSON-ready data; ``None`` = it was not looked for."""
    if nearest is None:
        return None
    names = ["/".join(name) for name in answer.problem.instance.task_names()]
    return {
        "status": str(nearest.status),
        "moved": [names[task] for task in nearest.moved],
        "placed": [names[task] for task in nearest.placed],
        "left_out": [names[task] for task in nearest.left_out],
        "placement": _placement_or_none(answer, nearest.placement),
    }
