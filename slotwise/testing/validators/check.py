"""`check_validator`: hold a validator against the judge, rule by rule."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from hypothesis import HealthCheck, Phase, Verbosity, find, settings
from hypothesis.errors import Flaky, NoSuchExample

from slotwise.models.errors import InputError
from slotwise.testing.validators.answers import (
    Answer,
    Validator,
    as_validator,
    ask_validator,
)
from slotwise.testing.validators.case import RULES, Case, SubCase
from slotwise.testing.validators.catalogue import sub_cases
from slotwise.testing.validators.report import Finding, Mistake, RuleReport, ValidatorReport


def check_validator(
    validator: Validator | str,
    *,
    rules: Iterable[str] = RULES,
    max_examples: int = 100,
    time_limit_s: float = 10.0,
    reproducible: bool = False,
    raise_on_failure: bool = False,
) -> ValidatorReport:
    """Return how a validator agrees with the judge, with the smallest case of each mistake.

    For each rule it is asked about placements that are exactly at the limit and keep every rule,
    and about placements that break this rule by one unit or task, and no other rule.

    Parameters
    ----------
    validator
        A callable that takes `Instance` and `Placement` and returns a bool (valid or not), a
        collection of names of broken rules, or an object with an attribute `valid`; or
        ``"cmd:COMMAND"``: reads ``{"instance": ..., "placement": ...}`` as JSON on stdin and prints
        ``{"valid": bool}`` or ``{"violations": ["rule", ...]}``.
    rules
        Those to check, of `RULES`.
    max_examples
        Cases for each side of each rule, 1 or more, shared among the parts of the rule; each part
        gets at least one. Those that shrink a mistake come on top.
    time_limit_s
        Seconds after which a command is killed; nothing more is asked then.
    reproducible
        Try the same cases in each run and keep nothing on disk. Otherwise Hypothesis's profile,
        seed and database count, as in its tests.
    raise_on_failure
        Raise `AssertionError` with the table where a mistake was found.

    Raises
    ------
    InputError
        For a rule, number or command that cannot be used.
    """
    if max_examples < 1:
        raise InputError("must be 1 or more", field="max_examples", value=max_examples)
    known = [(rule, sub_cases(rule)) for rule in rules]
    asking = as_validator(validator, time_limit_s=time_limit_s)
    profile = _profile(max_examples, reproducible)
    done: list[RuleReport] = []
    for rule, parts in known:
        timed_out = any(one.answer.timed_out for report in done for one in report.findings)
        done.append(_rule_report(asking, rule, () if timed_out else parts, profile))
    report = ValidatorReport(tuple(done))
    if raise_on_failure:
        report.check()
    return report


def _profile(max_examples: int, reproducible: bool) -> settings:
    """Return the current profile, with what a search for the smallest mistake needs."""
    profile = settings(
        max_examples=max_examples,
        deadline=None,
        phases=(Phase.reuse, Phase.generate, Phase.shrink),
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    return settings(profile, derandomize=True, database=None) if reproducible else profile


def _rule_report(
    validator: Validator, rule: str, parts: tuple[SubCase, ...], profile: settings
) -> RuleReport:
    share = max(1, profile.max_examples // max(1, len(parts)))
    tried = 0
    findings: list[Finding] = []
    for part, keeps in product(parts, (True, False)):
        search = _Search(validator, part, keeps)
        finding = search.run(settings(profile, max_examples=share))
        tried += search.tried
        if finding is not None:
            findings.append(finding)
            if finding.answer.timed_out:
                break
    return RuleReport(rule, tried, tuple(findings))


class _Search:
    """The search for a case of one part and side that a validator is wrong about.

    Attributes
    ----------
    tried
        Cases that the validator was asked about until the first mistake.
    """

    def __init__(self, validator: Validator, part: SubCase, keeps: bool) -> None:
        self.tried = 0
        self._validator = validator
        self._part = part
        self._keeps = keeps
        self._found: Case | None = None
        self._answer: Answer | None = None

    def run(self, profile: settings) -> Finding | None:
        """Return the smallest mistake, or ``None`` where there is none."""
        part = self._part
        key = f"slotwise validator {part.rule} {part.name} {self._keeps}".encode()
        cases = part.cases(keeps=self._keeps)
        try:
            find(cases, self._is_wrong, settings=profile, database_key=key)
        except NoSuchExample:
            return None
        except Flaky:
            return self._finding(wavers=True)
        return self._finding(wavers=False)

    def _finding(self, *, wavers: bool) -> Finding:
        case, answer = self._found, self._answer
        assert case is not None, "a mistake was found"
        assert answer is not None, "a mistake was found"
        if not answer.timed_out:
            wavers |= ask_validator(self._validator, case.instance, case.placement) != answer
        mistake = Mistake.WAVERS if wavers else mistake_of(case, answer)
        assert mistake is not None, "a mistake was found"
        return Finding(mistake, case, answer)

    def _is_wrong(self, case: Case) -> bool:
        if self._answer is not None and self._answer.timed_out:
            return case == self._found  # no more waiting: the first one is reported
        answer = ask_validator(self._validator, case.instance, case.placement)
        self.tried += self._found is None
        if mistake_of(case, answer) is None:
            return False
        self._found, self._answer = case, answer
        return True


def mistake_of(case: Case, answer: Answer) -> Mistake | None:
    """Return what is wrong about an answer; ``None`` = it is right."""
    if answer.error:
        return Mistake.FAILS
    if case.keeps:
        return None if answer.valid else Mistake.REJECTS
    if answer.valid:
        return Mistake.MISSES
    return None if answer.rules is None or answer.rules == {case.rule} else Mistake.MISNAMES
