"""Random rows, against the same definitions in plain Python, and in another order and split."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, takewhile
from math import inf
from statistics import mean

import pandas as pd
import pytest
from graded_rows import TERMS, row, write_rows
from scipy.stats import wilcoxon

from slotwise.benchmarks.aggregation.runs.run_table import run_table
from slotwise.benchmarks.aggregation.summary import summary_of
from slotwise.benchmarks.analysis.aggregate import aggregate, references_of
from slotwise.benchmarks.analysis.gaps import row_gap, values_of

METHODS = ("first", "second", "third")
FAILURES = {
    "refused": {"reason": "no room"},
    "invalid": {"violations": ["slots: n1"]},
    "timeout": {"error": "late"},
}


def graded(random):
    """The rows of 40 instances, three methods and two seeds, with ties, zeros and failures."""
    rows = []
    for number in range(40):
        name = f"i{number}"
        optimum = (random.choice((0, 0, 2)), random.choice((0, 4, 7, 10)))
        best = tuple(str(Fraction(value)) for value in optimum)
        kind = random.choice(("optimal",) * 6 + ("feasible", "infeasible", "unknown"))
        bounds = (best[0], str(optimum[1] // 2))
        values = None if kind in ("infeasible", "unknown") else best
        rows.append(row(name, "auto", kind, values, bounds if kind == "feasible" else None))
        for method in METHODS:
            rows += [ran(random, name, method, seed, optimum, kind) for seed in (0, 1)]
    return rows


def ran(random, name, method, seed, optimum, kind):
    seconds = {"seed": seed, "wall_s": random.choice((0.1, 0.5, 2.0))}
    if kind == "infeasible" or random.random() < 0.15:
        status = random.choice(list(FAILURES))
        return row(name, method, status, **FAILURES[status], **seconds)
    over = (random.choice((0, 0, 0, 1)), random.choice((0, 0, 1, 3.5)))
    values = [f"{a + b:g}" for a, b in zip(optimum, over, strict=True)]
    return row(name, method, "valid", values, **seconds)


ROWS = graded(random.Random(16))
PLAYED = [one for one in ROWS if one["method"] != "auto"]
IMPOSSIBLE = {one["instance_hash"] for one in ROWS if one["status"] == "infeasible"}
VALUES = {(o["instance_hash"], o["seed"], o["method"]): values_of(o) for o in PLAYED}
CASES = sorted({key[:2] for key in VALUES if key[0] not in IMPOSSIBLE})


def optimum_of(one):
    """The optimum of the first terms, as far as it is proven."""
    pairs = [(term["value"], term["bound"]) for term in one["terms"] or ()]
    equal = list(takewhile(lambda pair: pair[0] == pair[1], pairs))
    return tuple(Fraction(value) for value, _ in equal)


OPTIMA = {one["instance_hash"]: optimum_of(one) for one in ROWS if one["method"] == "auto"}


@pytest.fixture(scope="module")
def summary(spark, tmp_path_factory):
    return summary_of(spark, write_rows(tmp_path_factory.mktemp("a"), ROWS), ())


def numbers_of(cells):
    """One number per instance from (instance, number): the mean over its seeds, sorted."""
    found = defaultdict(list)
    for instance, number in cells:
        found[instance].append(number)
    return sorted(map(mean, found.values()))


def over(value, optimum):
    """The gap as papers have it; infinite above an optimum of 0."""
    if value == optimum:
        return 0.0
    return inf if optimum == 0 else float((value - optimum) / optimum)


def in_term(values, optimum, position):
    """The gap in a term; infinite where there are no values, or an earlier term is above."""
    if values is None or values[:position] != optimum[:position]:
        return inf
    return over(values[position], optimum[position])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("position", [0, 1])
def test_gaps_on_all_and_on_common_instances(summary, method, position):
    known = [case for case in CASES if len(OPTIMA[case[0]]) > position]
    everyone = [
        (case, [in_term(VALUES[(*case, m)], OPTIMA[case[0]], position) for m in METHODS])
        for case in known
    ]
    mine = METHODS.index(method)
    expected = {
        "all": numbers_of((case[0], found[mine]) for case, found in everyone),
        "common": numbers_of(
            (case[0], found[mine]) for case, found in everyone if max(found) < inf
        ),
    }
    table = summary.gaps.set_index(["method", "position", "measure", "basis"]).sort_index()
    for basis, numbers in expected.items():
        told = table.loc[(method, position, "over_optimum", basis)]
        assert told["instances"] == len(numbers)
        assert told["reached"] == sum(number < inf for number in numbers)
        assert told["most"] == pytest.approx(numbers[-1])
        assert told["at_optimum"] == numbers.count(0)
    assert expected["common"] != []
    assert told["mean"] == pytest.approx(mean(expected["common"]))
    low, high = told["mean_low"], told["mean_high"]
    assert low <= told["mean"] <= high


@pytest.mark.parametrize(("a", "b"), list(combinations(METHODS, 2)))
def test_pairs_and_their_test(summary, a, b):
    ended, differences = defaultdict(int), []
    for case in CASES:
        x, y = VALUES[(*case, a)], VALUES[(*case, b)]
        if x is None or y is None:
            ended["neither" if x == y else "wins" if y is None else "losses"] += 1
            continue
        ended["ties" if x == y else "wins" if x < y else "losses"] += 1
        if x[0] == y[0]:
            differences.append((case[0], float((x[1] - y[1]) / max(x[1], y[1], Fraction(1, 99)))))
    told = summary.pairs.set_index(["method", "rival"]).loc[(a, b)]
    assert {what: told[what] for what in ended} == dict(ended)
    tested = (
        summary.tests.set_index(["method", "rival", "term"]).sort_index().loc[(a, b, "network")]
    )
    numbers = [n for n in numbers_of(differences) if n]
    assert tested["differing"] == len(numbers)
    assert tested["p"] == pytest.approx(wilcoxon([round(n, 12) for n in numbers]).pvalue)


@pytest.mark.parametrize("method", METHODS)
def test_profiles(summary, method):
    ratios = []
    for case in CASES:
        values = [VALUES[(*case, m)] for m in METHODS]
        best = min((v for v in values if v is not None), default=None)
        mine = VALUES[(*case, method)]
        ratios.append(inf if best is None else 1 + in_term(mine, best, 1))
    table = summary.profiles.set_index(["method", "profile", "tau"])["share"].sort_index()
    for tau in (1.0, 1.1, 1.5, 2.0, 1000.0):
        within = sum(ratio <= tau for ratio in ratios) / len(ratios)
        assert table[(method, "network", tau)] == pytest.approx(within), tau


def test_gaps_of_runs_agree_with_the_analysis(spark, tmp_path):
    told = run_table(spark, write_rows(tmp_path, ROWS)).toPandas()
    runs = told.set_index(["instance_hash", "method", "seed"]).sort_index()
    references, compared = references_of(ROWS), 0
    for one in ROWS:
        gap = row_gap(one, references)
        if gap is None:
            continue
        mine = runs.loc[(one["instance_hash"], one["method"], one["seed"])]
        expected = float("nan") if gap.relative is None else gap.relative
        assert mine[f"{gap.term}_gap"] == pytest.approx(expected, nan_ok=True)
        later = TERMS[TERMS.index(gap.term) + 1 :]
        assert all(pd.isna(mine[f"{term}_gap"]) for term in later)
        compared += 1
    assert compared > 150


def test_counts_agree_with_the_analysis(summary):
    for one in aggregate(ROWS).methods:
        told = summary.methods.set_index("method").loc[one.method]
        for what in ("runs", "valid", "rightly_refused", "failed", "optimal", "wins", "ties"):
            assert told[what] == getattr(one, what), (one.method, what)
        assert told["common"] == len(aggregate(ROWS).common) or one.method == "auto"
        assert told["seconds"] == pytest.approx(one.seconds)


@pytest.mark.slow
def test_another_order_and_split_of_the_rows_give_the_same(spark, summary, tmp_path):
    rows = list(ROWS)
    random.Random(3).shuffle(rows)
    other = summary_of(spark, write_rows(tmp_path, rows[:50], rows[50:53], rows[53:]), ())
    for name in ("methods", "gaps", "tests", "pairs", "profiles", "ecdf", "failures"):
        pd.testing.assert_frame_equal(
            getattr(summary, name), getattr(other, name), check_exact=True
        )
