"""What all runs of one method come to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slotwise.benchmarks.analysis.cases import Case, case_of, is_right_refusal
from slotwise.benchmarks.analysis.gaps import Reference, values_of
from slotwise.benchmarks.analysis.measures import (
    Spread,
    nodes_used,
    overloads,
    reasons,
    seconds_of,
    shifted_geometric_mean,
    spread,
)
from slotwise.benchmarks.analysis.term_summary import TermSummary, term_summaries
from slotwise.benchmarks.grading.rows import Kind, Row, RunStatus


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """What all runs of one method come to.

    Parameters
    ----------
    method, kind
        As in the rows; an exact engine is summarised like any other.
    runs, valid, refused, infeasible, rightly_refused, failed
        Number of runs; with a valid placement; refused, though it is not proven that there is
        none; with a proof that there is none; refused where an exact engine proved that; the rest:
        a broken rule, an error, a crash, a timeout, no answer.
    reasons
        Why there was no valid placement, most frequent first, with the number of runs; without
        those rightly refused.
    optimal
        Runs whose value is the proven optimum in every term.
    proven
        Cases in which the optimum of every term is proven and the method ran.
    terms
        Name of a term -> how far the valid runs are from the optimum in it.
    seconds
        Shifted geometric mean of the wall-clock time, as in `seconds_of`.
    overload, nodes_used
        Of the valid runs whose objective counts it / whose placement is kept.
    wins, ties, losses
        Cases in which the method alone is the best heuristic, shares that, or is not; a failure
        is a loss. Proven infeasible cases do not count. All 0 for exact engines.
    """

    method: str
    kind: str
    runs: int
    valid: int
    refused: int
    infeasible: int
    rightly_refused: int
    failed: int
    reasons: tuple[tuple[str, int], ...]
    optimal: int
    proven: int
    terms: dict[str, TermSummary]
    seconds: float
    overload: Spread
    nodes_used: Spread
    wins: int
    ties: int
    losses: int

    @property
    def succeeded(self) -> int:
        """Runs that ended as they should: a valid placement, or rightly none."""
        return self.valid + self.infeasible + self.rightly_refused


def summarise(
    rows: Sequence[Row],
    references: dict[str, Reference],
    holders: dict[Case, list[str]],
    common: Mapping[str, frozenset[Case]],
    impossible: frozenset[str],
) -> MethodSummary:
    """Return what the runs of one method come to.

    Parameters
    ----------
    rows
        At least one, all of the same method.
    references
        Instance hash -> what is proven about it.
    holders
        Case -> the heuristics with the best values in it.
    common
        Name of a term -> the cases in which it counts for every method.
    impossible
        Hashes of the instances that are proven infeasible.
    """
    method, kind = rows[0]["method"], rows[0]["kind"]
    valid = [row for row in rows if values_of(row) is not None]
    right = [row for row in rows if is_right_refusal(row, impossible)]
    refused = sum(row["status"] == RunStatus.REFUSED for row in rows) - len(right)
    infeasible = sum(row["status"] == RunStatus.INFEASIBLE for row in rows)
    mine = Counter(
        "loss"
        if method not in holders.get(case_of(row), ())
        else "tie"
        if len(holders[case_of(row)]) > 1
        else "win"
        for row in rows
        if kind != Kind.EXACT and row["instance_hash"] not in impossible
    )
    return MethodSummary(
        method=method,
        kind=kind,
        runs=len(rows),
        valid=len(valid),
        refused=refused,
        infeasible=infeasible,
        rightly_refused=len(right),
        failed=len(rows) - len(valid) - refused - infeasible - len(right),
        reasons=reasons(row for row in rows if not is_right_refusal(row, impossible)),
        optimal=sum(_is_optimal(row, references) for row in valid),
        proven=sum(_is_proven(row, references) for row in rows),
        terms=term_summaries(rows, references, common),
        seconds=shifted_geometric_mean([seconds_of(row) for row in rows]),
        overload=spread(overloads(valid)),
        nodes_used=spread(nodes_used(valid)),
        wins=mine["win"],
        ties=mine["tie"],
        losses=mine["loss"],
    )


def _is_optimal(row: Row, references: dict[str, Reference]) -> bool:
    reference = references.get(row["instance_hash"])
    return reference is not None and values_of(row) == reference.bounds


def _is_proven(row: Row, references: dict[str, Reference]) -> bool:
    reference = references.get(row["instance_hash"])
    return reference is not None and reference.proven
