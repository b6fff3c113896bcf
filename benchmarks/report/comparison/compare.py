"""The runs of two gradings, paired by method, instance and seed.

The change of each term is taken on its own, paired by instance: counts, mean with interval, a test.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from slotwise.benchmarks.grading.rows import SUCCEEDED, Row, RunStatus, reason_of, term_values
from slotwise.benchmarks.judged.intervals import generator, holm, mean_interval, wilcoxon_p
from slotwise.benchmarks.judged.reading import judged_rows
from slotwise.benchmarks.report.comparison.change import Change, MethodChanges, Pair, TermChange
from slotwise.benchmarks.report.labels import label_of
from slotwise.benchmarks.report.text import case_name, objective_text

Case = tuple[str, int]
"""Hash of an instance and seed."""

Runs = dict[tuple[str, Case], Row]
"""Method, or its label, and case -> the run."""


@dataclass(frozen=True, slots=True)
class OnlyIn:
    """What one of two gradings alone has: methods, and instances by name (with their seed)."""

    methods: tuple[str, ...]
    instances: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two gradings, on the cases and methods that both have.

    Parameters
    ----------
    cases
        Number of cases that both have.
    infeasible
        Those of them that are proven infeasible in either: they are left out.
    methods
        By name; exact engines too.
    only_before, only_after
        What the other grading lacks.
    cautions
        Sentences on what else differs: limits, versions, machines; and on contradictions.
    """

    cases: int
    infeasible: int
    methods: tuple[MethodChanges, ...]
    only_before: OnlyIn
    only_after: OnlyIn
    cautions: tuple[str, ...]

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "cases": self.cases,
            "infeasible": self.infeasible,
            "methods": [one.to_document() for one in self.methods],
            "only_before": _only_document(self.only_before),
            "only_after": _only_document(self.only_after),
            "cautions": list(self.cautions),
        }


def _only_document(only: OnlyIn) -> dict[str, list[str]]:
    return {"methods": list(only.methods), "instances": list(only.instances)}


def compare_rows(
    before: Sequence[Row], after: Sequence[Row], labels: Mapping[str, str] | None = None
) -> Compared:
    """Compare the last run of each method on each case in two gradings.

    Cases that are proven infeasible in either, and those that a method does not apply to, are left
    out.

    Parameters
    ----------
    before, after
        The rows of both, the oldest first.
    labels
        Method -> what it is called; two methods with one label in different gradings are compared.
    """
    judged = [judged_rows(rows) for rows in (before, after)]
    old, new = (
        _runs([rows[number] for number in one.runs["row"]], labels or {})
        for rows, one in zip((before, after), judged, strict=True)
    )
    impossible = frozenset(
        str(key) for one in judged for key in one.instances.index[one.infeasible]
    )
    cases = {case for _, case in old} & {case for _, case in new}
    pairs: dict[str, list[tuple[Row, Row]]] = {}
    for name, case in sorted(old.keys() & new.keys()):
        matched = pairs.setdefault(name, [])
        pair = old[name, case], new[name, case]
        applies = all(row["status"] != RunStatus.DOES_NOT_APPLY for row in pair)
        if case[0] not in impossible and applies:
            matched.append(pair)
    terms = term_changes(pairs)
    return Compared(
        cases=len(cases),
        infeasible=sum(case[0] in impossible for case in cases),
        methods=tuple(
            MethodChanges(name, tuple(sorted(map(_pair, some), key=_by_instance)), terms[name])
            for name, some in pairs.items()
        ),
        only_before=_only(old, new),
        only_after=_only(new, old),
        cautions=(*_cautions(list(old.values()), list(new.values())), *_lies(old, new, impossible)),
    )


def _runs(rows: Sequence[Row], labels: Mapping[str, str]) -> Runs:
    return {
        (label_of(row["method"], labels), (row["instance_hash"], row["seed"])): row for row in rows
    }


def _by_instance(pair: Pair) -> tuple[str, int]:
    return pair.instance, pair.seed


def _pair(rows: tuple[Row, Row]) -> Pair:
    old, new = rows
    change, term = change_of(old, new)
    return Pair(
        instance=case_name(new),
        instance_hash=new["instance_hash"],
        seed=new["seed"],
        change=change,
        term=term,
        before=_outcome(old),
        after=_outcome(new),
    )


def _outcome(row: Row) -> str:
    text = reason_of(row) or objective_text(row)
    return f"{text} (proven optimal)" if row["status"] == RunStatus.OPTIMAL else text


def change_of(old: Row, new: Row) -> tuple[Change, str | None]:
    """Return what became of a run, and the first term that differs where both are valid."""
    was, is_now = (row["status"] in SUCCEEDED for row in (old, new))
    if not was:
        return (Change.NEWLY_SOLVED if is_now else Change.BOTH_FAIL), None
    if not is_now:
        return Change.NEWLY_FAILING, None
    values = term_values(new)
    for term, value in term_values(old).items():
        if values[term] != value:
            return (Change.BETTER if values[term] < value else Change.WORSE), term
    return Change.UNCHANGED, None


def _only(runs: Runs, other_runs: Runs) -> OnlyIn:
    names = {name for name, _ in runs} - {name for name, _ in other_runs}
    others = {case for _, case in other_runs}
    instances = {case_name(row) for (_, case), row in runs.items() if case not in others}
    return OnlyIn(tuple(sorted(names)), tuple(sorted(instances)))


def _cautions(before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    """Return what else differs between the gradings, so that differences may come from it."""
    return [
        f"The {noun} differ: {', '.join(sorted(old))} before, {', '.join(sorted(new))} after."
        for (noun, old), new in zip(
            _conditions(before).items(), _conditions(after).values(), strict=True
        )
        if old != new
    ]


def _conditions(rows: Sequence[Row]) -> dict[str, set[str]]:
    return {
        "time limits": {f"{row['time_limit_s']:g} s" for row in rows},
        "versions": {f"({row['version']})" for row in rows},
        "processors": {row["cpu_model"] or "unknown" for row in rows},
    }


def _lies(old: Runs, new: Runs, impossible: frozenset[str]) -> list[str]:
    """Return sentences on valid placements of instances that are proven infeasible."""
    return sorted(
        f"Contradiction: {name} has a valid placement of {row['instance']}, which is proven "
        "infeasible in one of the gradings."
        for runs in (old, new)
        for (name, case), row in runs.items()
        if case[0] in impossible and row["status"] in SUCCEEDED
    )


Pairs = Sequence[tuple[Row, Row]]
"""The run before and the run after, on the same case."""


def term_changes(pairs: Mapping[str, Pairs]) -> dict[str, tuple[TermChange, ...]]:
    """Return the changes of each method by term; p-values are corrected over all of them."""
    by_method = {name: _of_method(name, some) for name, some in pairs.items()}
    corrected = iter(holm([one.p_value for some in by_method.values() for one in some]))
    return {
        name: tuple(replace(one, p_value=next(corrected)) for one in some)
        for name, some in by_method.items()
    }


def _of_method(name: str, pairs: Pairs) -> list[TermChange]:
    differences: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for old, new in pairs:
        if old["status"] not in SUCCEEDED or new["status"] not in SUCCEEDED:
            continue
        values = term_values(new)
        for term, value in term_values(old).items():
            difference = values[term] - value
            differences[term][old["instance_hash"]].append(float(difference))
            if difference:
                break
    return [_change(name, term, found) for term, found in differences.items()]


def _change(name: str, term: str, by_instance: Mapping[str, Sequence[float]]) -> TermChange:
    """Sum up one term; the seeds of an instance are averaged, for they are not independent."""
    every = [one for some in by_instance.values() for one in some]
    means = [fmean(by_instance[key]) for key in sorted(by_instance)]
    low, high = mean_interval(means, generator(0, name, term)) or (None, None)
    return TermChange(
        term=term,
        pairs=len(every),
        better=sum(one < 0 for one in every),
        worse=sum(one > 0 for one in every),
        mean=fmean(means),
        low=low,
        high=high,
        p_value=wilcoxon_p(means),
    )
