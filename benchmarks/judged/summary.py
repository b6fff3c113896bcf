"""A grading summed up: the figures of each method, and methods compared in pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from slotwise.benchmarks.grading.rows import Kind, RunStatus
from slotwise.benchmarks.judged.classes import classes
from slotwise.benchmarks.judged.groups import Group, groups_of
from slotwise.benchmarks.judged.judging import Flags, Indices, Judged, Proof
from slotwise.benchmarks.judged.plain_table import plain_records
from slotwise.benchmarks.judged.runs import PREDICTED
from slotwise.benchmarks.judged.statistics import (
    ECDF_AT,
    OF_SEEDS,
    STATISTICS,
    TAUS,
    Gaps,
    MethodComparison,
    geometric_mean,
    pairs,
    tests,
    time_ratios,
)
from slotwise.models.display import counted

ENDED = {
    "valid": (RunStatus.VALID, RunStatus.OPTIMAL, RunStatus.FEASIBLE),
    "broken_rule": (RunStatus.INVALID,),
    "refused": (RunStatus.REFUSED,),
    "does_not_apply": (RunStatus.DOES_NOT_APPLY,),
    "crashed": (RunStatus.CRASHED,),
    "timeout": (RunStatus.TIMEOUT,),
    "memory": (RunStatus.OUT_OF_MEMORY,),
    "error": (RunStatus.ERROR,),
    "unknown": (RunStatus.UNKNOWN,),
    "infeasible": (RunStatus.INFEASIBLE,),
}
"""How runs ended, as columns; ``refused`` without those that were right."""

PROOFS = (Proof.PROVEN, Proof.BOUNDED, Proof.OPEN)

IN_TABLE = ("mean", "median", "p95")
"""Statistics of a term in the table of methods: ``network_median_low`` and so on."""

ENDS = ("low", "high", "ci_low", "ci_high")
"""Of a statistic. The mean has those of `OF_SEEDS` as well."""


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """What the rows of a grading come to; all tables are pandas DataFrames.

    Each table begins with the columns of `by`. Gaps are (value - optimum) / optimum, from
    ``..._low`` to ``..._high`` where an optimum is not proven; see `judging` and `statistics`.

    Parameters
    ----------
    folder
        Where the rows are.
    by
        Columns of classes of instances.
    solver_gap
        Whether gaps are (value - bound) / value instead, as MIP solvers print them.
    terms
        Names of the terms of the objective.
    groups
        Which methods are compared, on which instances, and what is left out.
    methods
        A row for each method of a group, exact engines first, then by instances placed and by
        gaps: which ``gap``; how all its runs ended (`ENDED`), ``failed``; on the instances of the
        group ``proven``, ``bounded``, ``open`` (of exact engines), ``instances``, ``placed``,
        ``at_optimum``, ``wins``, ``ties``, ``losses`` against the best of the others, ``seconds``
        (shifted geometric mean), `WORTH`, and the statistics of each term.
    gaps
        All statistics of each method in each term, the virtual best among the methods.
    ecdf
        Share of instances within a gap, surely (``share_low``) and possibly (``share_high``).
    pairs
        Wins, ties and losses of every two methods.
    tests
        Wilcoxon's signed-rank test of every two methods in each term, with Holm's correction.
    profiles
        Performance profiles: share of instances within ``tau`` times the best known value of a
        term, or the least time (``seconds``).
    failures
        How often each method gave no valid placement, and why.
    contradictions
        Sentences on values below a proven bound, and placements of infeasible instances.
    """

    folder: str
    by: tuple[str, ...]
    solver_gap: bool
    terms: tuple[str, ...]
    groups: pd.DataFrame
    methods: pd.DataFrame
    gaps: pd.DataFrame
    ecdf: pd.DataFrame
    pairs: pd.DataFrame
    tests: pd.DataFrame
    profiles: pd.DataFrame
    failures: pd.DataFrame
    contradictions: tuple[str, ...]

    def __repr__(self) -> str:
        """One line: the folder, and of each method how much it placed."""
        parts = ", ".join(
            f"{row['method']} {row['placed']} of {row['instances']}"
            for row in self.methods.to_dict("records")
            if row["group"] == 1
        )
        return f"{type(self).__name__} {self.folder}: {parts}"

    def to_frame(self) -> pd.DataFrame:
        """Return the table of methods."""
        return self.methods.copy()

    def to_document(self) -> dict[str, Any]:
        """Return all tables as JSON-ready data; infinity is the text ``inf``."""
        document = {
            "folder": self.folder,
            "by": list(self.by),
            "gap": _gap_name(self.solver_gap),
            "terms": list(self.terms),
            "contradictions": list(self.contradictions),
        }
        return document | {name: plain_records(getattr(self, name)) for name in TABLES}


TABLES = ("groups", "methods", "gaps", "ecdf", "pairs", "tests", "profiles", "failures")
"""Names of the tables of a summary."""


@dataclass(frozen=True, slots=True, eq=False)
class _Class:
    """A class of instances with the comparison of each group on them."""

    name: dict[str, str]
    instances: Indices
    comparisons: tuple[MethodComparison, ...]


def summarise(judged: Judged, folder: str, by: tuple[str, ...] = (), seed: int = 0) -> Summary:
    """Sum up what was judged; `seed` is that of the 95 % intervals, by the bootstrap."""
    groups = groups_of(judged)
    parts = [
        _Class(name, instances, tuple(_comparisons(judged, groups, instances)))
        for name, instances in classes(judged, by)
    ]

    def table(
        rows: Callable[[MethodComparison], Iterator[dict[str, Any]]], columns: str
    ) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {**part.name, "group": comparison.group.number, **row}
                for part in parts
                for comparison in part.comparisons
                for row in rows(comparison)
            ],
            columns=[*by, "group", *columns.split()],
        )

    of_gaps: list[dict[str, Any]] = []
    shares: list[dict[str, Any]] = []
    profiles: list[dict[str, Any]] = []
    for part, comparison in [(one, comparison) for one in parts for comparison in one.comparisons]:
        head = {**part.name, "group": comparison.group.number}
        profiles += [head | row for row in _time_profile(comparison)]
        for term in comparison.terms:
            term_gaps = comparison.gaps(term)  # Large: it serves three tables, and then goes.
            for member, name in enumerate(term_gaps.names):
                common_cells = head | {"method": name}
                of_gaps.append({**common_cells, "term": term, **term_gaps.statistics(member, seed)})
                shares += [
                    {**common_cells, "term": term, **row} for row in _shares(term_gaps, member)
                ]
                profiles += [common_cells | row for row in _profile(term_gaps, member)]
    heads = [*by, "group", "method"]
    gaps = pd.DataFrame(of_gaps, columns=[*heads, "term", *STATISTICS])
    return Summary(
        folder=folder,
        by=by,
        solver_gap=judged.solver_gap,
        terms=judged.terms,
        groups=pd.DataFrame(
            [_group_row(part, comparison) for part in parts for comparison in part.comparisons],
            columns=[*by, *OF_GROUP],
        ),
        methods=_methods(judged, parts, gaps, by),
        gaps=gaps,
        ecdf=pd.DataFrame(shares, columns=[*heads, "term", "within", "share_low", "share_high"]),
        pairs=table(pairs, "method rival instances wins ties losses both_fail"),
        tests=table(tests, "method rival term instances differing median_difference p p_holm"),
        profiles=pd.DataFrame(profiles, columns=[*heads, "profile", "tau", "share"]),
        failures=_failures(judged, parts, by),
        contradictions=judged.contradictions,
    )


def _comparisons(
    judged: Judged, groups: Sequence[Group], instances: Indices
) -> Iterator[MethodComparison]:
    for group in groups:
        some = np.intersect1d(group.instances, instances, assume_unique=True)
        if len(some):
            yield MethodComparison(judged, group, some)


OF_GROUP = ("group", "subject", "methods", "instances", *map(str, PROOFS), "basis")
"""Columns of `Summary.groups`."""


def _group_row(part: _Class, comparison: MethodComparison) -> dict[str, Any]:
    group = comparison.group
    proof = comparison.judged.proof[comparison.instances]
    left_out = (
        np.intersect1d(some, part.instances) for some in (group.infeasible, group.inapplicable)
    )
    return {
        **part.name,
        "group": group.number,
        "subject": str(group.subject),
        "methods": ", ".join(comparison.judged.methods[method] for method in group.methods),
        "instances": len(comparison.instances),
        **{str(kind): int((proof == kind).sum()) for kind in PROOFS},
        "basis": basis_text(len(comparison.instances), *map(len, left_out)),
    }


def basis_text(instances: int, infeasible: int, inapplicable: int) -> str:
    """Return the basis of a comparison, and what is left out of it, as a sentence."""
    reasons = [
        f"{infeasible:,} proven infeasible" if infeasible else "",
        f"{inapplicable:,} that not all these methods apply to or ran on" if inapplicable else "",
    ]
    left_out = " and ".join(filter(None, reasons))
    text = f"Compared on {counted(instances, 'instance')}"
    return f"{text}, without {left_out}." if left_out else f"{text}."


def _time_profile(comparison: MethodComparison) -> Iterator[dict[str, Any]]:
    ratios = time_ratios(comparison)
    for member, name in enumerate(comparison.names):
        ordered = np.sort(ratios[:, member])
        for tau in TAUS:
            share = float(np.searchsorted(ordered, tau, side="right")) / len(ordered)
            yield {"method": name, "profile": "seconds", "tau": tau, "share": share}


def _shares(gaps: Gaps, member: int) -> Iterator[dict[str, Any]]:
    """Yield a member's rows of `Summary.ecdf` in a term."""
    for within, (low, high) in zip(ECDF_AT, gaps.within(member, ECDF_AT), strict=True):
        yield {"within": within, "share_low": low, "share_high": high}


def _profile(gaps: Gaps, member: int) -> Iterator[dict[str, Any]]:
    """Yield a member's rows of `Summary.profiles` in a term."""
    shares = gaps.within(member, [_gap_at(tau, gaps.comparison.judged) for tau in TAUS])
    for tau, (_, share) in zip(TAUS, shares, strict=True):
        yield {"profile": gaps.term, "tau": tau, "share": share}


def _gap_at(tau: float, judged: Judged) -> float:
    """Return the gap of a value that is `tau` times the optimum."""
    return round(1 - 1 / tau if judged.solver_gap else tau - 1, 12)


def _methods(
    judged: Judged, parts: Sequence[_Class], gaps: pd.DataFrame, by: tuple[str, ...]
) -> pd.DataFrame:
    """Return `Summary.methods`."""
    of_gap = {
        (*(row[name] for name in by), row["group"], row["method"], row["term"]): row
        for row in gaps.to_dict("records")
    }
    rows = []
    for part in parts:
        lines = list(_lines(judged, part))
        for line in lines:
            key = (*part.name.values(), line["group"], line["method"])
            for term in judged.terms:
                row = of_gap.get((*key, term), {})
                for name in IN_TABLE:
                    line |= {f"{term}_{name}_{end}": row.get(f"{name}_{end}") for end in ENDS}
                line |= {f"{term}_{name}": row.get(name) for name in OF_SEEDS}
        lines.sort(key=lambda line: _rank(line, judged.terms))
        rows += [{**part.name, **line} for line in lines]
    whole = ("group", *ON_BASIS, *map(str, PROOFS))
    return pd.DataFrame(rows).astype(dict.fromkeys(whole, "Int64"))


WORTH = ("throughput_ratio", "latency_ratio")
"""What a run is predicted to be worth over what the exact engine's placement of the instance is:
geometric means over the runs for which both are predicted; null where there is none."""

ON_BASIS = ("instances", "placed", "at_optimum", "wins", "ties", "losses")
"""Columns that count instances of the group; null where a method is in none."""


def _rank(line: dict[str, Any], terms: Sequence[str]) -> tuple[Any, ...]:
    """Return the place in the table: by group, exact engines first, most placed, least gaps."""
    means = (line[f"{term}_mean_low"] for term in terms)
    far = [math.inf if mean is None or math.isnan(mean) else mean for mean in means]
    is_exact, group = line["kind"] == Kind.EXACT, line["group"]
    return group or math.inf, not is_exact, -(line["placed"] or 0), *far, line["method"]


def _gap_name(solver_gap: bool) -> str:
    return "solver" if solver_gap else "optimum"


def _lines(judged: Judged, part: _Class) -> Iterator[dict[str, Any]]:
    """Yield a line for each member of each comparison, then for methods that are in none."""
    in_part = np.isin(judged.instance, part.instances)
    members = set()
    for comparison in part.comparisons:
        here = np.isin(judged.instance, comparison.instances)
        alone = comparison.best.sum(axis=1) == 1
        for member, method in enumerate(comparison.members):
            members.add(method)
            method_runs, best = judged.method == method, comparison.best[:, member]
            compared = bool(comparison.compared[member])
            proof = judged.proof[comparison.instances]
            proofs = {
                str(kind): None if compared else int((proof == kind).sum()) for kind in PROOFS
            }
            yield {
                "group": comparison.group.number,
                "gap": _gap_name(judged.solver_gap),
                **_counts(judged, method_runs & in_part),
                **proofs,
                "instances": len(comparison.instances),
                "placed": int(comparison.placed[:, member].sum()),
                "at_optimum": int(comparison.optimal[:, member].sum()),
                "wins": int((best & alone).sum()) if compared else None,
                "ties": int((best & ~alone).sum()) if compared else None,
                "losses": int((~best).sum()) if compared else None,
                "seconds": geometric_mean(judged.runs["seconds"].to_numpy()[method_runs & here]),
                **_worth(judged, method_runs & here),
            }
    for method in sorted(set(np.unique(judged.method[in_part]).tolist()) - members):
        method_runs = in_part & (judged.method == method)
        nothing = dict.fromkeys(ON_BASIS)
        seconds = geometric_mean(judged.runs["seconds"].to_numpy()[method_runs])
        yield {
            "group": None,
            "gap": _gap_name(judged.solver_gap),
            **_counts(judged, method_runs),
            **dict.fromkeys(map(str, PROOFS)),
            **nothing,
            "seconds": seconds,
            **dict.fromkeys(WORTH),
        }


def _worth(judged: Judged, method_runs: Flags) -> dict[str, Any]:
    """Return `WORTH` of some runs."""
    figures: dict[str, Any] = {}
    for name, column in zip(WORTH, PREDICTED, strict=True):
        ratios = judged.over_optimum(column)[method_runs]
        finite = ratios[np.isfinite(ratios) & (ratios > 0)]
        figures[name] = float(np.exp(np.log(finite).mean())) if len(finite) else None
    return figures


def _counts(judged: Judged, method_runs: Flags) -> dict[str, Any]:
    """Return how runs of one method ended."""
    right = int(judged.rightly_refused[method_runs].sum())
    counts = judged.runs["status"][method_runs].value_counts().to_dict()
    ended = {
        name: sum(counts.get(str(status), 0) for status in statuses)
        for name, statuses in ENDED.items()
    }
    first = judged.runs.iloc[int(np.argmax(method_runs))]
    return {
        "kind": str(first["kind"]),
        "method": str(first["method"]),
        "runs": int(method_runs.sum()),
        **ended,
        "refused": ended["refused"] - right,
        "rightly_refused": right,
        "failed": int(judged.failed[method_runs].sum()),
    }


def _failures(judged: Judged, parts: Sequence[_Class], by: tuple[str, ...]) -> pd.DataFrame:
    """Return `Summary.failures`, most frequent first."""
    names = ["kind", "method", "status", "why"]
    rows = []
    for part in parts:
        runs = judged.runs.loc[judged.failed & np.isin(judged.instance, part.instances), names]
        counts = runs.astype(str).value_counts(sort=False).reset_index(name="runs")
        ordered = counts.sort_values(["method", "runs", "why"], ascending=[True, False, True])
        rows.append(ordered.assign(**part.name))
    every = pd.concat(rows, ignore_index=True)
    return every[[*by, *names, "runs"]]
