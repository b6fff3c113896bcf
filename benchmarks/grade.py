"""Grading: every method and the exact engine on every instance, on any Spark cluster."""

from __future__ import annotations

import os
import shlex
import shutil
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.benchmarks.analysis.measures import RIGHTLY_REFUSED
from slotwise.benchmarks.grading.batch.folder import address_of, local_folder, make_local
from slotwise.benchmarks.grading.batch.slots import task_cpus
from slotwise.benchmarks.grading.batch.start import Batch, run_batch
from slotwise.benchmarks.grading.oracle.asked import by_work, checked_share
from slotwise.benchmarks.grading.oracle.sample import without_unsampled
from slotwise.benchmarks.grading.oracle.stages import grading_stages
from slotwise.benchmarks.grading.plan import RunLimits, make_settings
from slotwise.benchmarks.grading.progress.watching import watching
from slotwise.benchmarks.grading.rows import Subject, subject_of
from slotwise.benchmarks.grading.sources import read_sources
from slotwise.benchmarks.spark.masters import Cluster, is_local
from slotwise.benchmarks.spark.session import job_errors, session
from slotwise.heuristics.method_names import COMMAND_PREFIX, SEPARATOR, is_command, split_names
from slotwise.heuristics.registry import all_methods, find_method
from slotwise.heuristics.sam.pairs import PAIRS, find_pair
from slotwise.models.display import html_line, html_table
from slotwise.models.errors import InputError
from slotwise.models.frame import frame
from slotwise.models.suggestion import suggestion
from slotwise.models.values import time_limit, whole
from slotwise.solver.core.limited.by_work import check_takes_work
from slotwise.solver.engine_names import current_name, renaming
from slotwise.solver.engines import ENGINES

if TYPE_CHECKING:
    from slotwise.models.frame import DataFrame

AUTO = "auto"

_ON_A_CLUSTER = {"spark.sql.shuffle.partitions": "16"}
"""Of the joins of the plan: Spark's 200 tasks would take longer than a million runs need."""


@dataclass(frozen=True, slots=True)
class GradeSummary:
    """What a grading did.

    Parameters
    ----------
    folder
        Where the rows are; a text where that is no folder of this machine (``hdfs://...``).
    instances, methods, engine
        What was graded.
    planned, skipped
        Number of runs asked for; of those that the folder held already.
    statuses
        Status -> number of rows, over all planned runs; ``rightly refused`` where the instance is
        proven infeasible, ``confirmed`` and ``not confirmed`` of cross-checks.
    seconds
        Wall-clock time, Spark's start included.
    """

    folder: Path | str
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
    conf: Mapping[str, str] | None = None,
    archive: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    deterministic: bool = False,
    crosscheck: float = 0.0,
    progress: bool = False,
    log: str | os.PathLike[str] | None = None,
    finish: Callable[[Any], None] | None = None,
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
        Of one run and all that it starts; an exact engine keeps to it as in `solve`. ``None`` = the
        default limit of the machine, shared by as many as run there at once. Like the number of
        threads it makes no other run: rows that are there stay.
    master
        Spark's master; a session that is active already is used as it is, and not stopped.
    out
        Folder of the rows, any that Spark can write and all executors reach: of this machine,
        shared by all, or with ``hdfs://``, ``s3a://``. It is made where there is none. One
        grading at a time may write into it.
    seed, count
        Of families, methods and engine; instances per family, ``None`` = the family's own.
    conf
        Settings of Spark, such as ``{"spark.task.cpus": "4"}``, over ours; ``None`` = none.
    archive
        File of `pack` that the executors' Python is in; ``None`` = they have slotwise installed.
    retry_failed
        Run those again, too, whose newest row is a failure: error, crashed, timeout or
        out-of-memory. The new rows count.
    deterministic
        `time_limit_s` counts units of work instead of seconds: the same call gives the same rows
        but for times and memory, on any number of executors, in any order, on a busy machine. Each
        exact run has one thread.
    crosscheck
        Share of the instances, 0 to 1, whose exact answer a second, different engine confirms;
        drawn by the instances' hashes and the seed.
    progress
        Show on stderr how far it is: bars on a terminal, elsewhere a line every ten seconds.
    log
        File that events are appended to as JSON lines (``docs/grading.md``); ``None`` = none.
    finish
        Called with the `SparkSession` when all rows are there, before it stops, for example to sum
        them up; ``None`` = nothing is.

    Raises
    ------
    DisagreementError
        With `crosscheck`, where two rows cannot both be right; it names their certificates.
    InputError
        For an unknown name, a method or an engine that none of the cases is for, or a bad number,
        before Spark starts.
    KeyboardInterrupt
        On Ctrl-C, with the rows of finished tasks kept; the same call resumes.

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
    share = checked_share(crosscheck)
    if deterministic:
        check_takes_work(ENGINES.get(engine), workers=1)
    chosen = conf or {} if is_local(master) else _ON_A_CLUSTER | dict(conf or {})
    cluster = Cluster(master, None if archive is None else Path(archive), chosen)
    cluster.check()
    if is_local(master):
        _check_commands(names)
    named = read_sources(_written(sources), count)
    names = _applicable(names, named.subjects, chosen=methods is not None)
    _check_engine_applies(engine, named.subjects)
    if memory_limit_mb is not None:
        whole(memory_limit_mb, "memory_limit_mb", least=1)
    make_local(out)
    folder = os.getcwd() if is_local(master) else None
    described = {
        "out": os.fspath(out),
        "methods": list(names),
        "engine": engine,
        "master": master,
        "time_limit_s": float(time_limit_s),
        "seed": seed,
    }
    with (
        watching(described, None if log is None else Path(log), progress) as watcher,
        session(cluster, watcher.waiting("starting Spark")) as spark,
        job_errors(),
    ):
        limits = RunLimits(float(time_limit_s), task_cpus(spark), seed, folder, memory_limit_mb)
        limits = replace(by_work(limits) if deterministic else limits, crosscheck=share > 0)
        settings = make_settings(named.subjects, names, engine, limits)
        batch = Batch(
            address=address_of(out),
            sources=named,
            settings=settings,
            seed=seed,
            retry_failed=retry_failed,
            stages=grading_stages(share, seed),
            narrowed=partial(without_unsampled, share=share, seed=seed) if share else None,
        )
        done = run_batch(spark, batch, RIGHTLY_REFUSED, watcher)
        if finish is not None:
            finish(spark)
    return GradeSummary(
        folder=os.fspath(out) if local_folder(out) is None else Path(out),
        instances=done.instances,
        methods=names,
        engine=engine,
        planned=done.planned,
        skipped=done.skipped,
        statuses=done.statuses,
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


def _applicable(names: Sequence[str], subjects: Collection[str], chosen: bool) -> tuple[str, ...]:
    """Return the methods that apply to a case; one that was chosen and does not is refused."""
    for name in names if chosen else ():
        if (subject := subject_of(name)) not in subjects:
            rule = f"is for cases of {subject}, but there are none"
            raise InputError(rule, field="method", value=name)
    return tuple(name for name in names if subject_of(name) in subjects)


def _check_engine_applies(engine: str, subjects: Collection[str]) -> None:
    """Refuse an engine that was chosen where nothing is to be placed."""
    if engine != AUTO and Subject.PLACEMENT not in subjects:
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
