"""One run of ``auto``: its state, which engines ran, and what each proved by itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from slotwise.models.instance.placement import Placement
from slotwise.models.problem.problem import Problem
from slotwise.solver.baseline import BASELINE
from slotwise.solver.core.engine import Engine, configured
from slotwise.solver.core.memory import RunToken
from slotwise.solver.core.reporter import Reporter
from slotwise.solver.core.result import Improvement, Limits, Outcome, Proof
from slotwise.solver.core.solve_state import Proven, SolveState
from slotwise.solver.large_neighbourhood import LARGE_NEIGHBOURHOOD
from slotwise.solver.local_search.engine import LOCAL_SEARCH
from slotwise.solver.portfolio.attempt import Answer, attempt, without_presolve
from slotwise.solver.portfolio.params import AUTO_DEFAULTS, AutoParams

STARTERS = (BASELINE.name, LOCAL_SEARCH.name, LARGE_NEIGHBOURHOOD.name)
"""Engines that find placements and prove only the simplest bounds."""


@dataclass(slots=True, eq=False)
class PortfolioRun:
    """One run: its state, the engines that ran, and what each proved by itself."""

    state: SolveState
    limits: Limits
    hint: Placement | None
    params: AutoParams = AUTO_DEFAULTS
    token: RunToken = field(default_factory=RunToken)
    started: float = field(init=False)
    engines: list[Engine] = field(default_factory=list)
    proofs: list[Proof] = field(default_factory=list)
    trace: list[Improvement] = field(default_factory=list)
    deterministic_work: float | None = None
    kept_back_s: float = 0.0

    def __post_init__(self) -> None:
        """Start the clock, that of the token."""
        self.started = self.token.now()

    @property
    def left_s(self) -> float:
        """Seconds left, without those reserved for the end."""
        return self.limits.time_s - self.kept_back_s - (self.token.now() - self.started)

    def is_over(self, token: RunToken) -> bool:
        """Whether nothing is left to do, or the run was asked to stop."""
        return self.state.is_settled or token.is_cancelled

    def configured(self, engine: Engine) -> Engine:
        """Return an engine with the parameters that the caller set."""
        return configured(engine, self.state.parameters)

    def run(
        self,
        step: PortfolioStep,
        problem: Problem,
        reporter: Reporter,
        *,
        limits: Limits | None = None,
    ) -> Outcome | None:
        """Run one engine from the incumbent; ``None`` where it declines the problem.

        ``None`` also where the run is over (except for the first engine), and where the engine is
        found wrong: then it is distrusted and the others continue. It has one thread and the
        limits of this run, or those of `limits`, but never more time than is left.
        """
        engine = self.configured(step.engine)
        reporter = reporter.by(engine.name)
        late = bool(self.engines) and self.left_s <= 0
        if self.is_over(reporter.token) or late or self.state.trust.is_doubted(engine.name):
            return None
        if engine.supports(problem) is not None:
            return None
        step_limits = limits or replace(self.limits, workers=1)
        step_limits = replace(step_limits, time_s=max(self.left_s, 0.0) * step.share)
        start = reporter.best() or reporter.project(self.hint)
        outcome = attempt(engine, step.why, problem, step_limits, start, reporter)
        if outcome is None:
            return None
        self._note(engine, outcome, reporter)
        if self.state.awaits_confirmation and self.left_s > 0 and not reporter.token.is_cancelled:
            confirm_limits = replace(step_limits, time_s=self.params.confirm_fraction * self.left_s)
            without_presolve(engine, problem, confirm_limits, reporter)
        return outcome

    def _note(self, engine: Engine, outcome: Outcome, reporter: Reporter) -> None:
        if engine not in self.engines:
            self.engines.append(engine)
        if outcome.deterministic_work is not None:
            self.deterministic_work = outcome.deterministic_work
        self.trace += outcome.trace
        if reporter.bounds_hold:
            self.proofs.append(_proof(engine, outcome))

    def polish(self, why: str, share: float, token: RunToken, steps: int | None = None) -> None:
        """Improve the incumbent of the whole problem by local search."""
        self._improve(PortfolioStep(LOCAL_SEARCH, why, share), token, steps)

    def free_neighbourhoods(self, why: str, token: RunToken) -> None:
        """Improve the incumbent of the whole problem, neighbourhood by neighbourhood."""
        self._improve(PortfolioStep(LARGE_NEIGHBOURHOOD, why), token, None)

    def _improve(self, step: PortfolioStep, token: RunToken, steps: int | None) -> None:
        step_limits = replace(self.limits, deterministic_work=steps)
        reporter = Reporter(self.state, step.engine.name, token=token)
        self.run(step, self.state.problem, reporter, limits=step_limits)

    def within(self, problem: Problem, time_s: float) -> PortfolioRun:
        """Return a run on another problem, which is part of this one."""
        state = SolveState(
            problem,
            self.state.forward_start,
            self.state.started,
            picked=self.state.picked,
            confirm=self.state.confirm,
            trust=self.state.trust,
            notes=self.state.notes,
            parameters=self.state.parameters,
        )
        limits = replace(self.limits, time_s=max(time_s, 0.0))
        return PortfolioRun(state, limits, None, self.params, self.token)

    def answer(self, token: RunToken) -> Answer:
        """Return the joint answer of all engines; `token` says whether they were stopped.

        The engine of the first placement is left out where others found or proved more.
        """
        others = [engine for engine in self.engines if engine.name not in STARTERS]
        proofs = [p for p in self.proofs if p.engine not in STARTERS]
        if not others or not (self.state.is_settled or self._is_first_bound_useful()):
            others, proofs = self.engines, self.proofs
        outcome = self.state.outcome(
            "; ".join(dict.fromkeys(proof.how for proof in proofs if proof.how)),
            interrupted=token.is_cancelled,
        )
        by_name = {engine.name: engine for engine in others}  # two ways of one engine are one
        return tuple(by_name.values()), replace(
            outcome,
            proofs=tuple(proofs),
            deterministic_work=self.deterministic_work,
            trace=tuple(self.trace),
        )

    def _is_first_bound_useful(self) -> bool:
        """Return whether the first open term has a bound other than 0 and than the trivial one."""
        proven = self.first_open_bound
        return proven is not None and proven.bound != 0 and proven.engine != BASELINE.name

    @property
    def first_open_bound(self) -> Proven | None:
        """The bound of the first term that is not closed; ``None`` also without a placement."""
        if self.state.best is None:
            return None
        for value, proven in zip(self.state.best.values, self.state.proofs(), strict=True):
            if proven is None or proven.bound != value:
                return proven
        return None


def _proof(engine: Engine, outcome: Outcome) -> Proof:
    """Return what an engine proved by itself, without the terms that were proven before."""
    own = (*(None,) * outcome.proven_before, *outcome.bounds[outcome.proven_before :])
    return Proof(engine.name, engine.version(), own, outcome.proof)


CONTRADICTED = "infeasible by counting: no search is needed"
NO_PLACEMENT_YET = "no placement is known: looks for one, or for a proof that there is none"
FIRST_PLACEMENT = "a first placement at once, and bounds that hold for every placement"
MANY_TASKS = "many tasks: a better placement to start from"
POLISH = "not proven: better placements in the remaining time"
NEIGHBOURHOODS = "not proven: large-neighbourhood search from the best placement"
NODES_PRICED = "distances by level: node configurations can be listed and priced"
PARTS_PRICED = "equal nodes, all equally far apart: parts are priced along an order of tasks"
CONNECTED_COLUMNS = "connected configurations are priced without listing whole nodes"
NODES_LISTED = "distances by level: node configurations listed with everything decided on a node"
ALL_IN_ONE_RACK = "all nodes in one rack bound the optimum from below"
WITHIN_ONE_RACK = "first within one rack, for a placement to improve on"
MOVES_LIMITED = "a limit of moves: exact tables of what few moves can change"
NOTHING_MAY_MOVE = "nothing may move: what runs is fixed, the places of the orphans remain"
FEWEST_MOVES = "earlier terms are proven: among the configurations that reach them, fewest moves"
TAKES_EVERY_RULE = "takes every rule; gets the remaining time"
BY_CAPACITIES = "a bound on the highest utilisation is a capacity of nodes"
COUNTS_UTILISATION = "counts the highest utilisation; gets the remaining time"
COUNTS_UTILISATION_TINY = "tiny: counts the highest utilisation whatever it depends on"
IN_PARALLEL = "takes every rule; runs in parallel on the other threads"


@dataclass(frozen=True, slots=True)
class PortfolioStep:
    """An engine, why it is chosen, and its share of the remaining time."""

    engine: Engine
    why: str
    share: float = 1.0
