"""Grading: every method and the exact engine on every instance, on any Spark cluster."""

from __future__ import annotations

import os
import shlex
import shutil
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.benchmarks.analysis.cases import infeasible_instances, is_right_refusal
from slotwise.benchmarks.analysis.measures import RIGHTLY_REFUSED
from slotwise.benchmarks.grading.plan import PlannedRun, RunLimits, make_plan, partitions, pending
from slotwise.benchmarks.grading.progress import progress_bar, waiting_for
from slotwise.benchmarks.grading.rows import KEY, Kind, Subject, key_of, subject_of
from slotwise.benchmarks.grading.sources import Case, read_cases
from slotwise.benchmarks.grading.spark_job import grade_partitions, slots_of, task_cpus
from slotwise.benchmarks.grading.store import Store
from slotwise.benchmarks.spark.session import check_master, is_local, job_errors, session
from slotwise.heuristics.method_names import COMMAND_PREFIX, SEPARATOR, is_command, split_names
from slotwise.heuristics.registry import all_methods, find_method
from slotwise.heuristics.sam.pairs import PAIRS, find_pair
from slotwise.models.display import html_line, html_table
from slotwise.models.errors import InputError
from slotwise.models.frame import frame
from slotwise.models.suggestion import suggestion
from slotwise.models.values import time_limit, whole
from slotwise.solver.engine_names import current_name, renaming
from slotwise.solver.engines import ENGINES

if TYPE_CHECKING:
    from slotwise.models.frame import DataFrame

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class GradeSummary:
    """What a grading did.

    Parameters
    ----------
    folder
        Where the rows are.
    instances, methods, engine
        What was graded.
    planned, skipped
        Number of runs asked for; of those that the folder held already.
    statuses
        Status -> number of rows, over all planned runs; ``rightly refused`` where the instance is
        proven infeasible.
    seconds
        Wall-clock time, Spark's start included.
    """

    folder: Path
    instances: int
    methods: tuple[str, ...]
    engine: str
    planned: int
    skipped: int
    statuses: dict[str, int]
    seconds: float

    def __repr__(self) -> str:
        """One line: folder, instances, runs, how they ended."""
        ended = ", ".join(f"{status} {count}" for status, count in self.statuses.items())
        return (
            f"GradeSummary {self.folder}: {self.instances} instances, {self.planned} runs, "
            f"{self.skipped} of them skipped; {ended}"
        )

    def _repr_html_(self) -> str:
        rows = [(status, f"{count:,}") for status, count in self.statuses.items()]
        return html_line(repr(self)) + html_table(("status", "runs"), rows, len(rows))

    def to_frame(self) -> DataFrame:
        """Return how the runs ended as a pandas DataFrame: status and runs.

        The runs themselves are read by `slotwise.read_rows`.
        """
        return frame(("status", "runs"), self.statuses.items())

    def to_document(self) -> dict[str, Any]:
        """Return the summary as JSON-ready data."""
        return {
            "out": str(self.folder),
            "instances": self.instances,
            "methods": list(self.methods),
            "engine": self.engine,
            "planned": self.planned,
            "skipped": self.skipped,
            "run": self.planned - self.skipped,
            "statuses": self.statuses,
            "seconds": round(self.seconds, 3),
        }


def grade(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    *,
    methods: str | Sequence[str] | None = None,
    engine: str = AUTO,
    time_limit_s: float = 60.0,
    memory_limit_mb: int | None = None,
    master: str = "local[*]",
    out: str | Path = "out",
    seed: int = 0,
    count: int | None = None,
    progress: bool = False,
) -> GradeSummary:
    """Run what the folder `out` has no row of yet; append the rows there.

    Parameters
    ----------
    sources
        Families, files of instances or allocation cases, folders of them, one or several; none =
        all families that are not held out.
    methods
        Names of methods of placement, also ``cmd:...``, and of pairs of allocation (``mba+sam``);
        each runs on the cases that it is for. A single text is read as ``A,B``. ``None`` = all
        there are.
    engine
        The exact engine of placements, whose rows all methods of an instance share. Allocations
        have one optimum.
    time_limit_s
        Wall-clock seconds of one run.
    memory_limit_mb
        Of one exact solve of a placement, as in `solve`; ``None`` = the default limit of the
        machine, shared by as many as run there at once. Like the number of threads it makes no
        other run: rows that are there stay.
    master
        Spark's master; a session that is active already is used as it is, and not stopped.
    out
        Folder of the rows; it is made where there is none.
    seed, count
        Of families, methods and engine; instances per family, ``None`` = the family's own.
    progress
        Show a bar on stderr if that is a terminal.

    Raises
    ------
    InputError
        For an unknown name, a method or an engine that none of the cases is for, or a bad number,
        before Spark starts.
    KeyboardInterrupt
        On Ctrl-C, with the finished chunks kept; the same call resumes.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.grade("rstorm", methods="r-storm", time_limit_s=5, out="out")  # doctest: +SKIP
    GradeSummary out: 9 instances, 18 runs, 0 of them skipped; feasible 9, optimal 9
    """
    started = time.perf_counter()
    if renamed := renaming(engine):
        warnings.warn(renamed, FutureWarning, stacklevel=2)
    engine = current_name(engine)
    methods = split_methods([methods]) if isinstance(methods, str) else methods
    names = _checked(methods, engine, time_limit_s, seed, count)
    check_master(master)
    if is_local(master):
        _check_commands(names)
    cases = read_cases(_written(sources), seed, count)
    names = _applicable(names, cases, chosen=methods is not None)
    _check_engine_applies(engine, cases)
    store = Store(Path(out))
    store.prepare(cases)
    if memory_limit_mb is not None:
        whole(memory_limit_mb, "memory_limit_mb", least=1)
    folder = os.getcwd() if is_local(master) else None
    limits = RunLimits(float(time_limit_s), 1, seed, folder, memory_limit_mb)
    plan = make_plan(cases, names, engine, limits)
    missing = pending(plan, store.rows(KEY))
    if missing:
        _run(missing, master, store, progress)
    return GradeSummary(
        folder=Path(out),
        instances=len(cases),
        methods=names,
        engine=engine,
        planned=len(plan),
        skipped=len(plan) - len(missing),
        statuses=_statuses(store, plan),
        seconds=time.perf_counter() - started,
    )


def split_methods(written: Sequence[str] | None) -> list[str] | None:
    """Return the names in texts ``A,B``, as `split_names` does; ``None`` where there are none."""
    if written is None:
        return None
    return split_names(written, {*(method.name for method in all_methods()), *PAIRS})


def _written(sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    several = (sources,) if isinstance(sources, str | os.PathLike) else sources
    return [os.fspath(source) for source in several]


def _applicable(names: Sequence[str], cases: Sequence[Case], chosen: bool) -> tuple[str, ...]:
    """Return the methods that apply to a case; one that was chosen and does not is refused."""
    subjects = {case.subject for case in cases}
    for name in names if chosen else ():
        if (subject := subject_of(name)) not in subjects:
            rule = f"is for cases of {subject}, but there are none"
            raise InputError(rule, field="method", value=name)
    return tuple(name for name in names if subject_of(name) in subjects)


def _check_engine_applies(engine: str, cases: Sequence[Case]) -> None:
    """Refuse an engine that was chosen where nothing is to be placed."""
    if engine != AUTO and all(case.subject != Subject.PLACEMENT for case in cases):
        raise InputError(
            "is for cases of placement, but there are none", field="engine", value=engine
        )


def _check_commands(names: Sequence[str]) -> None:
    """Refuse an external command whose program is not there, before anything is graded."""
    for name in names:
        if is_command(name):
            program = shlex.split(name.removeprefix(COMMAND_PREFIX))[0]
            if shutil.which(program) is None:
                raise InputError(
                    "cannot be run; install the program or give its path",
                    field="method",
                    value=program,
                )


def _statuses(store: Store, plan: Sequence[PlannedRun]) -> dict[str, int]:
    """Count how the runs of `plan` ended."""
    keys = {key_of(run.columns()) for run in plan}
    rows = [row for row in store.rows((*KEY, "status")) if key_of(row) in keys]
    impossible = infeasible_instances(rows)
    ended = {
        key_of(row): RIGHTLY_REFUSED if is_right_refusal(row, impossible) else row["status"]
        for row in rows
    }
    return dict(sorted(Counter(ended.values()).items()))


def _run(missing: Sequence[PlannedRun], master: str, store: Store, progress: bool) -> None:
    with session(master, waiting_for("starting Spark", progress)) as spark:
        slots = slots_of(spark)
        cores = task_cpus(spark)
        ready = [_shipped(run, cores) for run in missing]
        split = partitions(ready, slots)
        with job_errors(), progress_bar(len(split), progress) as bar:
            grade_partitions(spark, split, slots, store.append, bar)


def _shipped(run: PlannedRun, cores: int) -> PlannedRun:
    """Return what executors need of `run`: a family's instance is made again from its index."""
    case = run.case if run.case.index is None else replace(run.case, text="")
    threaded = run.kind == Kind.EXACT and case.subject == Subject.PLACEMENT
    return replace(run, case=case, workers=cores if threaded else 1)


def _checked(
    methods: Sequence[str] | None, engine: str, time_limit_s: float, seed: int, count: int | None
) -> tuple[str, ...]:
    """Check the arguments and return the names of the methods, each once."""
    known = (AUTO, *ENGINES)
    if engine not in known:
        rule = f"is not an engine; {suggestion(engine, known)}"
        raise InputError(rule, field="engine", value=engine)
    time_limit(time_limit_s, "time_limit_s")
    whole(seed, "seed")
    if count is not None:
        whole(count, "count", least=1)
    if methods is None:
        methods = (*(method.name for method in all_methods()), *PAIRS)
    return tuple(dict.fromkeys(map(_found_name, methods)))


def _found_name(name: str) -> str:
    """Return the name of a method or pair; what is written like a pair is looked up as one."""
    written_like_a_pair = "+" in name and SEPARATOR not in name
    return find_pair(name).name if written_like_a_pair else find_method(name).name
