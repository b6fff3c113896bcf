"""Searching for an instance on which a check does not hold, with Hypothesis.

Hypothesis draws instances; the first on which the check fails is made small, step by step
(`reduction`), or shrunk by Hypothesis where it comes from a strategy of the user, for a smaller one
might be none of his. What a check said of an instance is remembered, and stands: a scheduler that
answers at random does not confuse the search.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.database import ExampleDatabase
from hypothesis.strategies import SearchStrategy

from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance_file import instance_hash, instance_text
from slotwise.testing.checks.drawn import CORNERS, drawn
from slotwise.testing.checks.finding import Finding, NotJudgedError
from slotwise.testing.checks.reduction import as_read, smallest
from slotwise.testing.checks.report import Failure, Report
from slotwise.testing.checks.table import BREAKS_DOWN, Demand
from slotwise.testing.checks.trial import Trial

SHRINK_S = 20.0
"""Seconds for shrinking: after that no instance that is new counts as failing."""


EDGES = 4
"""Most instances at the edge of a rule that are looked at for each that is drawn."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long, and where, is searched.

    Parameters
    ----------
    max_examples
        Most instances; ``None`` = as Hypothesis's profile says.
    seed
        Of Hypothesis, and then neither its database nor its profile's randomness counts;
        ``None`` = as Hypothesis is configured (profile, database, ``--hypothesis-seed``).
    """

    max_examples: int | None = None
    seed: int | None = None


BUDGET = Budget()
"""As Hypothesis is configured."""


class _FoundError(AssertionError):
    """Tells Hypothesis that the check fails on this instance."""


@dataclass(slots=True)
class _Looks:
    """What a check said of each instance so far."""

    demand: Demand
    trial: Trial
    is_ours: bool
    seen: dict[str, Finding | None] = field(default_factory=dict)
    drawn: dict[str, Finding | None] = field(default_factory=dict)
    """What was found of a drawn instance or at an edge of it; `seen` is of instances alone."""
    not_judged: Counter[str] = field(default_factory=Counter)
    examples: int = 0
    judged: int = 0
    failures: list[Failure] = field(default_factory=list)
    counted: tuple[int, int, dict[str, int]] | None = None
    deadline: float | None = None
    reduced: list[Failure] = field(default_factory=list)

    def look(self, instance: Instance) -> Finding | None:
        """Look at an instance that was drawn, and count it."""
        instance = as_read(instance)
        if (key := instance_hash(instance)) in self.drawn:
            return self.drawn[key]
        self.examples += 1
        try:
            finding = self._check_held(instance)
            self.judged += 1
        except NotJudgedError as error:
            finding = None
            self.not_judged[str(error)] += 1
        self.seen[key] = finding
        if finding is None and self.is_ours:
            finding = self._look_at_edges(instance)
        self.drawn[key] = finding
        return finding

    def _check_held(self, instance: Instance) -> Finding | None:
        finding = self.demand.holds(self.trial, instance)
        if finding is not None:
            self.failures.append(Failure(instance, finding))
        return finding

    def _look_at_edges(self, instance: Instance) -> Finding | None:
        edges = self.demand.check.edges
        if edges is None:
            return None
        try:
            answer = self.trial.answer(instance)
        except NotJudgedError:
            return None
        if isinstance(answer, Placement):
            within = filter(self.trial.is_for, edges(instance, answer))
            for edge in _some(within, instance):
                if self.fails(edge):
                    return self.seen[instance_hash(edge)]
        return None

    def fails(self, instance: Instance) -> bool:
        """Whether the check fails on an instance that was made from a drawn one."""
        if (key := instance_hash(instance)) not in self.seen:
            if self.deadline is not None and time.perf_counter() > self.deadline:
                return False
            try:
                self.seen[key] = self._check_held(instance)
            except NotJudgedError:
                self.seen[key] = None
        return self.seen[key] is not None

    def look_and_raise(self, instance: Instance) -> None:
        """Look; from the first finding on, the time for shrinking runs."""
        is_late = self.deadline is not None and time.perf_counter() > self.deadline
        if is_late and instance_hash(instance) not in self.drawn:
            return
        if self.look(instance) is not None:
            self.count()
            self.deadline = self.deadline or time.perf_counter() + SHRINK_S
            raise _FoundError

    def count(self) -> None:
        """Fix the counts that the report gives: what shrinking looks at does not count."""
        self.counted = self.counted or (self.examples, self.judged, dict(self.not_judged))

    def kinds(self) -> set[str]:
        """Return in which ways the check has failed so far."""
        return {kind for one in self.failures for kind in one.finding.kinds}

    def make_small(self) -> None:
        """Look at smaller and smaller instances that fail in each way, while there is time."""
        self.deadline = self.deadline or time.perf_counter() + SHRINK_S
        self.reduced = [self._made_small(start) for start in _one_of_each_kind(self.failures)]

    def _made_small(self, start: Failure) -> Failure:
        kinds = set(start.finding.kinds)

        def fails(instance: Instance) -> bool:
            trial = self.seen[instance_hash(instance)] if self.fails(instance) else None
            return trial is not None and kinds.issuperset(trial.kinds)

        last = smallest(start.instance, fails)
        trial = self.seen[instance_hash(last)]
        assert trial is not None, "the first one fails"
        assert self.deadline is not None, "`make_small` has set it"
        return Failure(last, trial, is_reduced=time.perf_counter() <= self.deadline)

    def report(self, *, fails: bool, share: float | None = None) -> Report:
        self.count()
        assert self.counted is not None
        failures = _one_of_each_kind(self.reduced or self.failures) if fails else ()
        return Report(self.demand, self.trial.scheduler.name, *self.counted, failures, share)


def _one_of_each_kind(failures: Sequence[Failure]) -> tuple[Failure, ...]:
    """Return failures in which each kind of finding occurs, the plainest and smallest first."""
    chosen: list[Failure] = []
    seen: set[str] = set()
    for one in sorted(failures, key=lambda one: (len(one.finding.kinds), _size(one))):
        if not seen.issuperset(one.finding.kinds):
            chosen.append(one)
            seen.update(one.finding.kinds)
    return tuple(chosen)


def _some(edges: Iterable[Instance], instance: Instance) -> list[Instance]:
    """Return at most `EDGES` of them, each time others: asking a scheduler takes time."""
    chosen = list(edges)
    start = int(instance_hash(instance)[-8:], 16) % max(1, len(chosen))
    return (chosen[start:] + chosen[:start])[:EDGES]


def _size(failure: Failure) -> tuple[int, int]:
    instance = failure.instance
    places = len(instance.task_names()) + len(instance.cluster.nodes)
    return places, len(instance_text(instance))


def search(
    demand: Demand,
    trial: Trial,
    instances: SearchStrategy[Instance] | None = None,
    budget: Budget = BUDGET,
    *,
    kind: str | None = None,
) -> Report:
    """Return whether `demand` holds on what is drawn, or the smallest instance where it fails.

    Parameters
    ----------
    demand
        The check.
    trial
        The scheduler.
    instances
        What is drawn; ``None`` = `CORNERS`, then instances of our own, without the rules that the
        scheduler is not for (see `Trial.rules`).
    budget
        How many instances, and Hypothesis's seed.
    kind
        Of our own instances; see `drawn`.
    """
    looks = _Looks(demand, trial, is_ours=instances is None)
    source = drawn(demand, kind).map(trial.narrowed) if instances is None else instances
    failures = [looks.look(corner) for corner in CORNERS] if instances is None else []
    if demand.check.is_share:
        return _share(looks, source, budget)
    if any(failures):
        return looks.report(fails=True)
    return looks.report(fails=_fails(looks, source, budget))


def _share(looks: _Looks, instances: SearchStrategy[Instance], budget: Budget) -> Report:
    """Count on how many instances the check holds; shrink one where these are too few."""

    def count(instance: Instance) -> None:
        looks.look(instance)

    phases = (Phase.reuse, Phase.generate)
    _run(given(instances)(count), budget, looks, phases)
    looks.count()
    share = 1 - len(looks.failures) / looks.judged if looks.judged else None
    fails = share is not None and share < looks.demand.threshold
    if fails and looks.is_ours:
        looks.make_small()
    elif fails:
        _fails(looks, instances, budget)
    return looks.report(fails=fails, share=share)


def _fails(looks: _Looks, instances: SearchStrategy[Instance], budget: Budget) -> bool:
    def check(instance: Instance) -> None:
        looks.look_and_raise(instance)

    left_out = {Phase.explain, Phase.shrink} if looks.is_ours else {Phase.explain}
    phases = tuple(phase for phase in settings().phases if phase not in left_out)
    try:
        _run(given(instances)(check), budget, looks, phases)
    except _FoundError:
        if looks.is_ours:
            _look_on(looks, instances, budget)
            looks.make_small()
        return True
    return False


def _look_on(looks: _Looks, instances: SearchStrategy[Instance], budget: Budget) -> None:
    """Look for further rules that the scheduler breaks, once one is found.

    One that breaks down is not asked further: it might use up its time limit each time.
    """
    looks.deadline = None

    def check(instance: Instance) -> None:
        looks.look(instance)
        if BREAKS_DOWN in looks.kinds():
            raise _FoundError

    if looks.demand.check.has_kinds and BREAKS_DOWN not in looks.kinds():
        with suppress(_FoundError):
            _run(given(instances)(check), budget, looks, (Phase.generate,))


def _run(test: Callable[[], None], budget: Budget, looks: _Looks, phases: Sequence[Phase]) -> None:
    """Call a test of Hypothesis with the settings of its profile, save where ours must differ.

    A scheduler and the oracle take what time they take, so there is no deadline; drawing rich
    instances is slow, so no health check complains.
    """
    profile = settings()
    key = f"{looks.trial.scheduler.text or looks.trial.scheduler.name} {looks.demand}"
    configured = settings(
        profile,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        database=None if budget.seed is not None else keyed(profile.database, key),
        max_examples=budget.max_examples or profile.max_examples,
    )
    test = configured(test)
    if budget.seed is not None:
        test = seeded(budget.seed)(test)
    test()


TRIES = 20
"""How often a check is made: a scheduler that answers at random may do well now and then."""


def look_at(demand: Demand, trial: Trial, instance: Instance) -> Report:
    """Return what `demand` says of one instance, with the first failure of `TRIES`."""
    failures: tuple[Failure, ...] = ()
    not_judged: dict[str, int] = {}
    for _ in range(TRIES):
        anew = Trial(trial.scheduler, trial.time_limit_s, trial.oracle, trial.rules)
        try:
            finding = demand.holds(anew, instance)
            not_judged = {}
        except NotJudgedError as error:
            finding, not_judged = None, {str(error): 1}
        if finding is not None:
            failures = (Failure(instance, finding),)
            break
    return Report(demand, trial.scheduler.name, 1, 1 - len(not_judged), not_judged, failures)


class KeyedDatabase(ExampleDatabase):
    """Another database, with `key` put before each of its keys.

    Hypothesis keys examples by the test function; ours is one function for all checks.
    """

    def __init__(self, base: ExampleDatabase, key: str) -> None:
        super().__init__()
        self._base = base
        self._key = f"slotwise {key} ".encode()

    def save(self, key: bytes, value: bytes) -> None:
        """Save an example."""
        self._base.save(self._key + key, value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        """Return the examples of a key."""
        return self._base.fetch(self._key + key)

    def delete(self, key: bytes, value: bytes) -> None:
        """Delete an example."""
        self._base.delete(self._key + key, value)


def keyed(base: ExampleDatabase | None, key: str) -> ExampleDatabase | None:
    """Return `base` with `key` before its keys; ``None`` where there is none."""
    return None if base is None else KeyedDatabase(base, key)
