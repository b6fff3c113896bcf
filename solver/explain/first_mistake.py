"""The first decision of a method after which no completion exists.

The more tasks are fixed, the fewer completions there are: so the decisions after which one exists
are the first ones, and a binary search finds the last of them. Each step is decided exactly, by
solving with the tasks fixed that were placed so far: they run in their places while at most 0 tasks
may move (``objective.limits.moved``), a rule that every engine keeps for node and worker. Costs are
left out, so any valid placement ends the search. Of a method that backtracks, the longest sequence
of decisions is examined.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from slotwise.heuristics.decision_log import DecisionLog, TaskDecision
from slotwise.heuristics.method import Method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.explanation.alternatives import Alternative, alternatives
from slotwise.models.instance.instance import Instance, Place
from slotwise.models.instance.placement import UNPLACED, Placement, Refusal
from slotwise.models.judge.judge import judge
from slotwise.models.judge.verdict import Verdict, Violation
from slotwise.models.problem.compile import compile_problem
from slotwise.models.problem.problem import Problem
from slotwise.solver.core.result import Status
from slotwise.solver.solve import solve


@dataclass(frozen=True, slots=True, eq=False)
class TracedRun:
    """A method's answer, and its decisions, if it records them.

    Parameters
    ----------
    method, seed
        The method and its seed.
    refused
        Reason of the refusal, if it refused.
    placement, verdict
        Its placement otherwise, and the verdict on it.
    decisions
        In order: those of its placement, or, where not all tasks have a place, the longest
        sequence of the run; ``None`` = the method does not record them.
    applies
        Whether the method applies to the instance; if not, it made no decision.
    """

    method: str
    seed: int
    refused: str | None
    placement: Placement | None
    verdict: Verdict | None
    decisions: tuple[TaskDecision, ...] | None
    applies: bool = True

    @property
    def left_out(self) -> bool:
        """Whether some tasks have no place."""
        return self.placement is None or UNPLACED in self.placement.nodes

    @property
    def failed(self) -> bool:
        """Whether it refused, left tasks out or broke a rule."""
        return self.left_out or self.verdict is None or not self.verdict.valid


def traced_run(problem: Problem, method: Method, seed: int) -> TracedRun:
    """Run `method` and note its decisions; raises what `run_method` raises."""
    log = DecisionLog()
    answer = run_method(problem, _logging(method, log), seed)
    refused = answer.reason if isinstance(answer, Refusal) else None
    placement = None if isinstance(answer, Refusal) else answer
    verdict = None if placement is None else judge(problem, placement)
    decisions = None
    applies = method.supports(problem) is None
    if method.place_logged is not None and applies:
        whole = placement is not None and UNPLACED not in placement.nodes
        decisions = log.standing if whole else log.furthest
    return TracedRun(method.name, seed, refused, placement, verdict, decisions, applies)


def _logging(method: Method, log: DecisionLog) -> Method:
    logged = method.place_logged
    if logged is None:
        return method
    return replace(method, place=lambda problem, rng: logged(problem, rng, log), place_until=None)


class Completable(StrEnum):
    """Whether all other tasks can be placed."""

    YES = "yes"
    NO = "no"
    """Proven."""
    UNDECIDED = "undecided"
    """Not settled within the limit."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer: a whole placement that keeps the fixed tasks where it is `Completable.YES`.

    `broken` are the rules that the fixed tasks break by themselves, if any. `interrupted`: Ctrl-C
    ended the search.
    """

    answer: Completable
    placement: Placement | None = None
    broken: tuple[Violation, ...] = ()
    interrupted: bool = False


def everything_placed(instance: Instance) -> Instance:
    """Return the instance in which all tasks must be placed and every placement costs the same.

    Raises `InputError` where moves are limited: a fixed task would look like one that runs.
    """
    if instance.objective.limits:
        raise InputError(
            "cannot be explained: tasks are fixed by the same rule",
            field="objective.limits",
            value=dict(instance.objective.limits),
        )
    objective = replace(instance.objective, terms=("linear",), limits={"moved": 0})
    return replace(instance, running={}, objective=objective, linear=())


def with_fixed(instance: Instance, decisions: Iterable[TaskDecision]) -> Instance:
    """Return `everything_placed` with the tasks of `decisions` fixed in their places."""
    names = instance.task_names()
    running: dict[str, dict[str, Place]] = {}
    for decision in decisions:
        topology, task = names[decision.task]
        place = Place(instance.cluster.nodes[decision.node].id, decision.worker)
        running.setdefault(topology, {})[task] = place
    return replace(everything_placed(instance), running=running)


def partial_placement(instance: Instance, decisions: Iterable[TaskDecision]) -> Placement:
    """Return the placement of these tasks alone."""
    nodes = [UNPLACED] * len(instance.task_names())
    workers = list(nodes)
    for decision in decisions:
        nodes[decision.task], workers[decision.task] = decision.node, decision.worker
    return Placement(tuple(nodes), tuple(workers))


def complete(
    instance: Instance,
    decisions: Iterable[TaskDecision],
    *,
    time_limit_s: float,
    seed: int = 0,
    workers: int = 1,
) -> Completion:
    """Return whether all tasks can be placed with those of `decisions` where these put them.

    Whether topologies may be left out does not matter here: all are to be placed.
    """
    decisions = tuple(decisions)
    partial = judge(everything_placed(instance), partial_placement(instance, decisions))
    broken = tuple(one for one in partial.violations if one.rule != "placed")
    if broken:  # each rule that some tasks break is broken with more tasks as well
        return Completion(Completable.NO, broken=broken)
    result = solve(
        with_fixed(instance, decisions), time_limit_s=time_limit_s, seed=seed, workers=workers
    )
    if result.placement is not None:
        return Completion(Completable.YES, result.placement, interrupted=result.interrupted)
    no = result.status is Status.INFEASIBLE
    answer = Completable.NO if no else Completable.UNDECIDED
    return Completion(answer, interrupted=result.interrupted)


SLICE = 0.25
"""Share of the remaining time for one step."""


@dataclass(frozen=True, slots=True)
class StuckTask:
    """A task without a place beside the fixed ones, and the rules that forbid each place."""

    task: int
    places: tuple[Alternative, ...]


@dataclass(frozen=True, slots=True)
class FirstMistake:
    """What went wrong in a sequence of decisions.

    Parameters
    ----------
    decisions
        The sequence.
    possible
        After this many decisions from the start a completion exists: `completion` is one.
    impossible
        After this many none exists, proven; ``None`` = the whole sequence has a completion, or
        whether it has was not settled.
    settled
        Whether the answer is exact: `impossible` is `possible` + 1, or everything is possible.
    completion
        A valid placement that keeps the first `possible` decisions.
    broken
        The rules that the first `impossible` decisions break by themselves.
    stuck
        Where they break none: the tasks that then have no place at all, one of each component.
    interrupted
        Whether Ctrl-C ended the search.
    """

    decisions: tuple[TaskDecision, ...]
    possible: int
    impossible: int | None
    settled: bool
    completion: Placement
    broken: tuple[Violation, ...] = ()
    stuck: tuple[StuckTask, ...] = ()
    interrupted: bool = False

    @property
    def decision(self) -> TaskDecision | None:
        """The first decision after which no completion exists, where it is known."""
        if self.impossible is None or not self.settled:
            return None
        return self.decisions[self.possible]

    def fixed(self, instance: Instance) -> Placement:
        """Return the placement of the decisions up to the first mistake, that one included."""
        count = self.possible if self.impossible is None else self.impossible
        return partial_placement(instance, self.decisions[:count])


def first_mistake(
    problem: Problem,
    decisions: tuple[TaskDecision, ...],
    completion: Placement,
    *,
    time_limit_s: float,
    seed: int = 0,
    workers: int = 1,
) -> FirstMistake:
    """Return the first of `decisions` after which the other tasks have no place.

    Parameters
    ----------
    problem
        Of an instance without ``objective.limits``.
    completion
        A valid placement of all tasks.
    time_limit_s
        Wall clock for all steps together.
    """
    search = _Search(problem, decisions, completion, time_limit_s, seed, workers)
    return search.run()


class _Search:
    """The binary search between possible and impossible numbers of decisions."""

    def __init__(
        self,
        problem: Problem,
        decisions: tuple[TaskDecision, ...],
        completion: Placement,
        time_limit_s: float,
        seed: int,
        workers: int,
    ) -> None:
        self._problem = problem
        self._decisions = decisions
        self._end = time.monotonic() + time_limit_s
        self._seed, self._workers = seed, workers
        self._possible = 0
        self._completion = completion
        self._impossible: int | None = None
        self._broken: tuple[Violation, ...] = ()
        self._undecided: set[int] = set()
        self._interrupted = False
        self._keep(completion)

    def run(self) -> FirstMistake:
        """Search, beginning with all decisions; end when a step cannot be settled in time."""
        self._decide(len(self._decisions))
        while (middle := self._middle()) is not None and time.monotonic() < self._end:
            self._decide(middle)
        top = len(self._decisions)
        settled = self._possible == top or self._impossible == self._possible + 1
        stuck: tuple[StuckTask, ...] = ()
        if settled and self._impossible is not None and not self._broken:
            stuck = tuple(self._stuck())
        return FirstMistake(
            decisions=self._decisions,
            possible=self._possible,
            impossible=self._impossible,
            settled=settled,
            completion=self._completion,
            broken=self._broken,
            stuck=stuck,
            interrupted=self._interrupted,
        )

    def _middle(self) -> int | None:
        """Return the next number of decisions to try; ``None`` = nothing is left to try."""
        top = len(self._decisions) + 1 if self._impossible is None else self._impossible
        left = [n for n in range(self._possible + 1, top) if n not in self._undecided]
        return left[len(left) // 2] if left else None

    def _decide(self, count: int) -> None:
        """Decide whether the first `count` decisions have a completion."""
        if count <= self._possible:
            return
        left = max(0.1, SLICE * (self._end - time.monotonic()))
        completion = complete(
            self._problem.instance,
            self._decisions[:count],
            time_limit_s=left,
            seed=self._seed,
            workers=self._workers,
        )
        if completion.interrupted:
            self._interrupted, self._end = True, 0.0
        if completion.placement is not None:
            self._keep(completion.placement)
        elif completion.answer is Completable.NO:
            self._impossible, self._broken = count, completion.broken
        else:
            self._undecided.add(count)

    def _keep(self, placement: Placement) -> None:
        """Record a completion, which may keep more decisions than required."""
        agreeing = 0
        for decision in self._decisions:
            if (placement.nodes[decision.task], placement.workers[decision.task]) != (
                decision.node,
                decision.worker,
            ):
                break
            agreeing += 1
        if agreeing >= self._possible:
            self._possible, self._completion = agreeing, placement

    def _stuck(self) -> list[StuckTask]:
        """Return a task of each class that has no place beside the first `impossible` decisions."""
        fixed = self._decisions[: self._impossible]
        partial = partial_placement(self._problem.instance, fixed)
        problem = compile_problem(with_fixed(self._problem.instance, fixed))
        decided = {task_class.task for task_class in fixed}
        stuck = []
        for task_class in problem.classes:
            waiting = [task for task in task_class.tasks if task not in decided]
            if waiting:
                places = alternatives(problem, partial, waiting[0])
                if all(place.forbidden_by for place in places):
                    stuck.append(StuckTask(waiting[0], places))
        return stuck
