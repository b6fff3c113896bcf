"""Engine choice ``auto``: a first placement, cheap reductions, then the engines that may prove it.

One after the other on one thread; with more, CP-SAT searches beside the others (`side_by_side`).
All of them tell one `Known`, which keeps the best placement and the best bounds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from importlib.metadata import version

from slotwise.models.errors import InternalError
from slotwise.models.placement import Placement
from slotwise.models.problem import Problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.column_engine import COLUMNS
from slotwise.solver.configurations import FAST_CONFIGURATIONS as CONFIGURATIONS
from slotwise.solver.cp_sat import CP_SAT
from slotwise.solver.engine import Engine, NotTakenError
from slotwise.solver.matrix_auto import matrix_turns
from slotwise.solver.one_node import as_one_node
from slotwise.solver.parts import flow_parts, sum_of_parts
from slotwise.solver.pieces import PIECES
from slotwise.solver.rack_cut import over_racks
from slotwise.solver.racks import all_in_one_rack, one_rack, racks_matter
from slotwise.solver.reduction import reduce_nodes
from slotwise.solver.result import Improvement, Limits, Outcome, Pick, Proof, Status
from slotwise.solver.side_by_side import side_by_side
from slotwise.solver.stopping import is_stop_requested
from slotwise.solver.sub_problem import SubProblem
from slotwise.solver.turns import (
    BESIDE,
    ENCLOSED,
    ENCLOSING,
    FIRST,
    LISTED,
    PIECED,
    PRICED,
    TAKES_ALL,
    Turn,
)
from slotwise.solver.watch import Known, Watch, tell_outcome

SHARE_OF_CONFIGURATIONS = 0.8
"""Of the time limit; they end far earlier on what they can prove."""

SHARE_OF_COLUMNS = 0.6
"""Of the time left."""

SHARE_OF_PARTS = 0.9
"""Of the time left, for the largest of the parts that no flow connects."""

SHARE_OF_A_RACK = 0.4
"""Of the time limit, for each of the two problems that enclose one with several racks."""

SUM_OF_PARTS, CUT = "sum over parts without flow", "least cut between racks"
"""Kinds of bounds."""

Answer = tuple[tuple[Engine, ...], Outcome]
"""The engines that ran, and what they found and proved together."""


@dataclass(slots=True, eq=False)
class Auto:
    """One run: what is known, who ran, and what they proved by themselves."""

    known: Known
    limits: Limits
    hint: Placement | None
    started: float = field(default_factory=time.perf_counter)
    engines: list[Engine] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)
    trace: list[Improvement] = field(default_factory=list)
    deterministic_work: float | None = None

    @property
    def left_s(self) -> float:
        """Seconds left."""
        return self.limits.time_s - (time.perf_counter() - self.started)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do, or somebody wants us to stop."""
        return self.known.is_settled or is_stop_requested()

    def run(self, turn: Turn, problem: Problem, watch: Watch, threads: int = 1) -> Outcome | None:
        """Run one engine from the incumbent; ``None`` where it does not take the problem.

        The same where everything is over already, save for the first engine.
        """
        engine, watch = turn.engine, watch.by(turn.engine.name)
        late = bool(self.engines) and self.left_s <= 0
        if self.is_over or late or engine.supports(problem) is not None:
            return None
        limits = replace(self.limits, workers=threads, time_s=max(self.left_s, 0.0) * turn.share)
        began = time.perf_counter()
        self.known.start(engine.name, turn.why)
        try:
            found = engine.run(problem, limits, watch.best() or watch.project(self.hint), watch)
        except NotTakenError:
            return None
        self._note(turn, found, time.perf_counter() - began, watch)
        return found

    def _note(self, turn: Turn, found: Outcome, seconds: float, watch: Watch) -> None:
        engine = turn.engine
        tell_outcome(watch, found)
        if self.known.infeasible and self.known.best is not None:
            raise InternalError(f"{engine.name} calls infeasible what has a valid placement")
        self.known.picked.append(Pick(engine.name, turn.why, seconds))
        if engine not in self.engines:
            self.engines.append(engine)
        if found.deterministic_work is not None:
            self.deterministic_work = found.deterministic_work
        self.trace += found.trace
        if watch.bounds_hold:
            proof = Proof(engine.name, engine.version(), found.bounds, found.proof)
            self.proofs.append(proof)

    def within(self, problem: Problem, time_s: float) -> Auto:
        """Return a run on another problem, which is part of this one."""
        known = Known(problem, self.known.tell_engine, self.known.started)
        known.picked = self.known.picked
        return Auto(known, replace(self.limits, time_s=max(time_s, 0.0)), None)

    def answer(self) -> Answer:
        """Return what all of them know together.

        The first placement is not worth a mention where others found or proved more.
        """
        others = [engine for engine in self.engines if engine is not BASELINE]
        proofs = [proof for proof in self.proofs if proof.engine != BASELINE.name]
        if not others or not (self.known.is_settled or self._is_first_bound_useful()):
            others, proofs = self.engines, self.proofs
        outcome = self.known.outcome(
            "; ".join(dict.fromkeys(proof.how for proof in proofs if proof.how)),
            interrupted=is_stop_requested(),
        )
        by_name = {engine.name: engine for engine in others}  # two ways of one engine are one
        return tuple(by_name.values()), replace(
            outcome,
            proofs=tuple(proofs),
            deterministic_work=self.deterministic_work,
            trace=tuple(self.trace),
        )

    def _is_first_bound_useful(self) -> bool:
        """Return whether others made the bound of the term in question, and it is not 0."""
        values = None if self.known.best is None else self.known.best.values
        for index, proven in enumerate(self.known.proofs()):
            if values is None or proven is None:
                return False
            if values[index] != proven.bound:
                return proven.bound != 0 and proven.engine != BASELINE.name
        return True


def run_auto(
    problem: Problem, limits: Limits, hint: Placement | None, known: Known | None = None
) -> Answer:
    """Solve the parts that no flow connects one by one, then the whole.

    A valid placement that `known` has already is where the search starts, else `hint`.
    """
    known = known or Known(problem)
    if hint is not None:
        known.offer(hint, "hint")
    auto = Auto(known, limits, hint)
    watch = Watch(known, "auto")
    auto.run(Turn(BASELINE, FIRST), problem, watch)
    parts = flow_parts(problem)
    if len(parts) > 1:
        _solve_parts(auto, problem, parts, watch)
    _solve_reduced(auto, problem, watch)
    return auto.answer()


def _solve_parts(auto: Auto, problem: Problem, parts: tuple[SubProblem, ...], watch: Watch) -> None:
    """Solve every part alone, the smallest first, and put their placements side by side."""
    outcomes: list[Outcome] = []
    for i, part in enumerate(reversed(parts)):
        if auto.is_over:
            return
        share = auto.left_s * (1.0 if i + 1 < len(parts) else SHARE_OF_PARTS)
        inner = auto.within(part.problem, share)
        _solve_reduced(inner, part.problem, Watch(inner.known, "auto"))
        _, found = inner.answer()
        auto.engines += [engine for engine in inner.engines if engine not in auto.engines]
        outcomes.insert(0, found)
        if found.status == Status.INFEASIBLE or is_stop_requested():
            break
    joined, found = sum_of_parts(problem, parts, outcomes)
    if joined is not None:
        watch.offer(joined)
    tell_outcome(watch, replace(found, bound_kind=SUM_OF_PARTS))
    auto.proofs += found.proofs


def _solve_reduced(auto: Auto, problem: Problem, watch: Watch) -> None:
    """Solve on the nodes that an optimal placement needs; see `reduce_nodes`."""
    if auto.is_over:
        return
    reduction = reduce_nodes(problem)
    watch = watch.on(reduction)
    one = as_one_node(reduction.problem)
    if one is None:
        _search(auto, reduction.problem, watch)
    else:
        _search(auto, one.problem, watch.on(one))


def _search(auto: Auto, problem: Problem, watch: Watch) -> None:
    """Run the engines: in one lane, or with CP-SAT beside it on the other threads."""
    threads = auto.limits.workers

    def beside() -> None:
        auto.run(Turn(CP_SAT, BESIDE), problem, watch, threads - 1)

    def alone() -> None:
        _prove(auto, problem, watch)

    if threads == 1 or (problem.matrix is not None and not matrix_turns(problem)):
        alone()
        auto.run(Turn(CP_SAT, TAKES_ALL), problem, watch, threads)
    else:
        side_by_side((alone, beside), lambda: auto.known.is_settled)


def _prove(auto: Auto, problem: Problem, watch: Watch) -> None:
    """Run the engines that know more of a problem than CP-SAT does."""
    if problem.matrix is not None:
        for turn in matrix_turns(problem):
            auto.run(turn, problem, watch)
        return
    priced = Turn(CONFIGURATIONS, PRICED, SHARE_OF_CONFIGURATIONS)
    found = auto.run(priced, problem, watch)
    if found is None and racks_matter(problem):
        _enclose(auto, problem, watch)
    if found is not None or CONFIGURATIONS.supports(problem) is not None:  # not for its size
        auto.run(Turn(COLUMNS, LISTED, SHARE_OF_COLUMNS), problem, watch)
    if found is None and not racks_matter(problem):
        auto.run(Turn(PIECES, PIECED, SHARE_OF_CONFIGURATIONS), problem, watch)


def _enclose(auto: Auto, problem: Problem, watch: Watch) -> None:
    """Take the bound of all nodes in one rack; its placement, or that of one rack alone."""
    flat = all_in_one_rack(problem)
    turn = Turn(CONFIGURATIONS, ENCLOSING, SHARE_OF_A_RACK)
    outer = auto.run(turn, flat.problem, watch.on(flat))
    if outer is None:
        auto.run(Turn(PIECES, PIECED, SHARE_OF_CONFIGURATIONS), problem, watch)
    rack = one_rack(problem)
    inner = auto.within(rack.problem, auto.limits.time_s * SHARE_OF_A_RACK)
    inner.known.on_best = watch.on(rack).offer
    inside = Watch(inner.known, "auto")
    for engine in (CONFIGURATIONS, CP_SAT):
        if not auto.is_over:
            inner.run(Turn(engine, ENCLOSED), rack.problem, inside)
    auto.engines += [engine for engine in inner.engines if engine not in auto.engines]
    if outer is not None:
        found = over_racks(problem, outer, inner.known.outcome())
        tell_outcome(watch, replace(found, bound_kind=CUT))
        auto.proofs.append(Proof("rack-cut", version("slotwise"), found.bounds, found.proof))
