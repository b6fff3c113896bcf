"""One run = one row: what it holds, how it can end, and which columns identify it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypedDict, TypeVar

from slotwise.heuristics.sam.pairs import PAIRS
from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import parse_json
from slotwise.models.instance.placement import UNPLACED, Placement
from slotwise.models.values import as_decimal, exact_text, whole

SCHEMA = """
    instance_hash string, instance string, family string, case_index int,
    tasks int, nodes int, topologies int, tightness double,
    kind string, method string, parameters string, seed long, time_limit_s double, workers int,
    version string, versions string, git_revision string,
    hint_from string, work_limit double,
    engine string, engine_parameters string, status string,
    terms array<struct<term: string, value: string, bound: string>>,
    gap double, proof string, violation_count int, violations array<string>, reason string,
    placement string, wall_s double, cpu_s double, peak_memory_mb double, cpu_model string,
    error string, batch string,
    work double, proofs string,
    throughput double, latency_ms double, prediction string
"""
"""Columns of a row, in Spark's notation.

``terms`` has exact decimals as text; ``placement`` is ``{"nodes": [...], "workers": [...]}`` in the
canonical order of tasks; ``engine_parameters`` is `Result.parameters` as JSON; ``version`` is what
makes a run another run, ``versions`` every library's; ``batch`` is when the call began that made
the row (UTC, as text that sorts by time): of rows with the same key the newest counts.
``hint_from`` is the method from whose placement an exact engine started; ``work_limit`` is the
limit in units of work (``None`` = in seconds alone), ``work`` what an exact engine did of it;
``proofs`` is what each engine proved, as JSON.
``throughput`` and ``latency_ms`` are what a valid placement is predicted to be worth, see
`grading.worth`; ``prediction`` says how, or why it is not (``None`` = it was not asked for).
"""


class TermRow(TypedDict):
    """One term of the objective; exact decimals as text, ``None`` = there is none."""

    term: str
    value: str | None
    bound: str | None


def term_of(name: str, value: Fraction | None, bound: Fraction | None) -> TermRow:
    """Return a term with its numbers as text."""
    return {"term": name, "value": number_cell(value), "bound": number_cell(bound)}


def number_cell(number: Fraction | None) -> str | None:
    """Return a number as rows have it: an exact decimal as text, ``None`` = there is none."""
    return None if number is None else exact_text(as_decimal(number))


class Planned(TypedDict, total=False):
    """The columns of a row that are known before the run; see `PlannedRun` and `Case`."""

    instance_hash: str
    instance: str
    family: str | None
    case_index: int | None
    tasks: int
    nodes: int
    topologies: int
    tightness: float
    kind: str
    method: str
    parameters: str
    seed: int
    time_limit_s: float
    workers: int
    version: str
    versions: str
    git_revision: str | None
    hint_from: str | None
    work_limit: float | None


class RunOutcome(TypedDict, total=False):
    """The columns of a row that the run gives."""

    engine: str | None
    engine_parameters: str | None
    status: str
    terms: list[TermRow] | None
    gap: float | None
    proof: str | None
    violation_count: int | None
    violations: list[str] | None
    reason: str | None
    placement: str | None
    wall_s: float | None
    cpu_s: float | None
    peak_memory_mb: float | None
    cpu_model: str | None
    error: str | None
    batch: str | None
    work: float | None
    proofs: str | None
    throughput: float | None
    latency_ms: float | None
    prediction: str | None


class Row(Planned, RunOutcome, total=False):
    """One run; a row that was read from a file may have some of the columns only."""


COLUMNS = (*Planned.__annotations__, *RunOutcome.__annotations__)
"""Names of the columns, in the order of `SCHEMA`."""

MEANING = "rows 3"
"""Of the columns; part of ``version``. Rows of another meaning are refused."""

OTHER_MEANING = f"must name {MEANING}, as this slotwise writes them; grade into another folder"
"""Why rows of another meaning are refused."""

KEY = ("instance_hash", "kind", "method", "version", "seed", "time_limit_s")
"""Columns that identify a run: a batch skips runs whose key the rows hold already.

Not among them: the threads of the exact engine, which Spark's ``spark.task.cpus`` sets.
"""

MEASURED = ("wall_s", "cpu_s", "peak_memory_mb", "cpu_model", "batch")
"""Columns that differ from one execution of a run to the next."""

MOST_VIOLATIONS = 20
"""A row names no more; ``violation_count`` has them all."""


class Kind(StrEnum):
    """What makes the placement of a run."""

    EXACT = "exact"
    HEURISTIC = "heuristic"
    EXTERNAL = "external"
    """A command that reads an instance and writes a placement."""
    CROSSCHECK = "crosscheck"
    """A second exact engine, which confirms what the first one proved."""


EXACT_KINDS = (Kind.EXACT, Kind.CROSSCHECK)
"""Runs of exact engines."""


class Subject(StrEnum):
    """What a case asks for."""

    PLACEMENT = "placement"
    """Nodes and workers for tasks: methods of placement, engines of `solve`."""
    ALLOCATION = "allocation"
    """Slots for a dataflow at a rate: pairs of `heuristics.sam`, the optimum."""


OPTIMUM = "optimal"
"""What the exact runs of allocations are called, whatever the engine of placements."""


def subject_of(method: str) -> Subject:
    """Return what a method is for: pairs and their optimum allocate, all others place."""
    return Subject.ALLOCATION if method in PAIRS or method == OPTIMUM else Subject.PLACEMENT


class RunStatus(StrEnum):
    """How a run ended."""

    OPTIMAL = "optimal"
    """Exact engine: proven."""
    FEASIBLE = "feasible"
    """Exact engine: valid, not proven."""
    INFEASIBLE = "infeasible"
    """Exact engine: proven that no placement keeps all hard rules."""
    UNKNOWN = "unknown"
    """Exact engine: stopped at the limit with nothing."""
    VALID = "valid"
    """Method: a placement that keeps all hard rules; a plan that reaches its rate."""
    INVALID = "broken rule"
    """Method: a placement that breaks a hard rule; a plan whose slots cannot. A failure."""
    REFUSED = "refused"
    """Method: no placement found. A failure unless it is proven that there is none."""
    DOES_NOT_APPLY = "does not apply"
    """Method: it does not read something that the instance has. Not a failure."""
    ERROR = "error"
    """The run was refused or failed with a message of ours: bad input, an internal error."""
    CRASHED = "crashed"
    """The method broke down (an exception, an exit code, no valid answer), or the process died."""
    TIMEOUT = "timeout"
    """The command was ended at the limit, or the process killed some seconds after it."""
    OUT_OF_MEMORY = "memory"
    """The process ran out of memory and said so."""


SUCCEEDED = (RunStatus.VALID, RunStatus.OPTIMAL, RunStatus.FEASIBLE)
"""How runs with a valid placement end; their rows have the value of every term."""

PROVEN = (RunStatus.OPTIMAL, RunStatus.INFEASIBLE)
"""How exact runs end with a proof: of the optimum, or that there is no placement."""


FAILED = (RunStatus.ERROR, RunStatus.CRASHED, RunStatus.TIMEOUT, RunStatus.OUT_OF_MEMORY)
"""How runs end that `--retry-failed` tries again: they broke down, whatever was to blame.

Not among them: a placement that breaks a rule and a refusal, which are answers; ``unknown``, the
answer of an exact engine that had all its time.
"""


KILLED = (RunStatus.TIMEOUT, RunStatus.CRASHED, RunStatus.OUT_OF_MEMORY)
"""How runs end that count with their time limit, at least."""


def reason_of(row: Mapping[str, Any]) -> str | None:
    """Return in words why a row has no valid placement; ``None`` where it has one."""
    status = row["status"]
    if status in SUCCEEDED:
        return None
    if status == RunStatus.INVALID:
        rules = sorted({text.partition(":")[0] for text in row["violations"] or ()})
        return f"breaks {', '.join(rules)}"
    if status in (RunStatus.REFUSED, RunStatus.DOES_NOT_APPLY):
        return f"{status}: {row['reason']}"
    if status == RunStatus.INFEASIBLE:
        return "proven infeasible"
    if status == RunStatus.UNKNOWN:
        return "nothing found within the limit"
    return f"{status}: {row['error']}"


def details_of(row: Row) -> tuple[str, ...]:
    """Return what a row says about its failure: of a broken rule its reason and violations."""
    if row["status"] != RunStatus.INVALID:
        reason = reason_of(row)
        return () if reason is None else (reason,)
    named = tuple(row["violations"] or ())
    more = (row["violation_count"] or 0) - len(named)
    details = (row["reason"],) if row["reason"] else ()
    return (*details, *named, f"and {more} more") if more > 0 else (*details, *named)


RIGHTLY_REFUSED = "rightly refused"
"""What a refusal is called where it is proven that there is no placement."""


def term_values(row: Row) -> dict[str, Fraction]:
    """Return the value of each term that has one, by the term's name; all do where `SUCCEEDED`."""
    terms = row["terms"] or ()
    return {term["term"]: _fraction(term["value"]) for term in terms if term["value"] is not None}


@lru_cache(maxsize=1 << 16)
def _fraction(text: str) -> Fraction:
    """Return the number that a row has as text; kept, because a report reads each several times."""
    return Fraction(text)


def placement_text(placement: Placement) -> str:
    """Return a placement as compact JSON, tasks in canonical order."""
    document = {"nodes": placement.nodes, "workers": placement.workers}
    return json.dumps(document, separators=(",", ":"))


def read_placement_text(text: str) -> Placement:
    """Return the placement that `placement_text` wrote.

    Raises
    ------
    InputError
        When it is something else.
    """
    data = parse_json(text)
    if not isinstance(data, dict) or set(data) != {"nodes", "workers"}:
        raise InputError("must be a JSON object with nodes and workers", value=text)
    for key, numbers in data.items():
        if not isinstance(numbers, list):
            raise InputError("must be a list", field=key, value=numbers)
        for index, number in enumerate(numbers):
            if not (isinstance(number, int) and number == UNPLACED):
                whole(number, f"{key}[{index}]")
    return Placement(tuple(data["nodes"]), tuple(data["workers"]))


R = TypeVar("R", bound=Mapping[str, Any])


def newest_rows(rows: Iterable[R]) -> list[R]:
    """Return the newest row of each key (`KEY`), oldest first; of one batch the last that comes."""
    newest: dict[tuple[object, ...], R] = {}
    for row in sorted(rows, key=lambda row: row["batch"] or ""):
        newest.pop(key_of(row), None)  # Taken out, so that the order is that of the newest.
        newest[key_of(row)] = row
    return list(newest.values())


def key_of(row: Mapping[str, object]) -> tuple[object, ...]:
    """Return what identifies the run of a row."""
    return tuple(row[column] for column in KEY)
