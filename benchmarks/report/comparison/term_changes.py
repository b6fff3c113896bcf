"""The change of each term on its own, paired by instance: counts, mean with interval, a test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from slotwise.benchmarks.aggregation.intervals import generator, mean_interval
from slotwise.benchmarks.aggregation.significance import holm, wilcoxon_p
from slotwise.benchmarks.grading.rows import SUCCEEDED, Row, term_values
from slotwise.benchmarks.report.comparison.change import TermChange

Pairs = Sequence[tuple[Row, Row]]
"""The run before and the run after, on the same case."""


def term_changes(pairs: Mapping[str, Pairs]) -> dict[str, tuple[TermChange, ...]]:
    """Return the changes of each method by term; p-values are corrected over all of them."""
    found = {name: _of_method(name, some) for name, some in pairs.items()}
    corrected = iter(holm([one.p_value for some in found.values() for one in some]))
    return {
        name: tuple(replace(one, p_value=next(corrected)) for one in some)
        for name, some in found.items()
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
    """Sum up one term; the seeds of an instance are averaged, they are no independent instances."""
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
