"""Grading: every method and the exact engine on every instance, on any Spark cluster."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from slotwise.benchmarks.grading.batch.finished import finished
from slotwise.benchmarks.grading.batch.folder import address_of
from slotwise.benchmarks.grading.batch.slots import task_cpus
from slotwise.benchmarks.grading.batch.start import Batch, run_batch
from slotwise.benchmarks.grading.command_text import command_text, keep_command
from slotwise.benchmarks.grading.grade_summary import GradeSummary
from slotwise.benchmarks.grading.names import (
    AUTO,
    applicable,
    check_commands,
    check_engine_applies,
    known_engine,
    known_methods,
)
from slotwise.benchmarks.grading.oracle.stages import grading_stages, without_unsampled
from slotwise.benchmarks.grading.plan import RunLimits, make_settings
from slotwise.benchmarks.grading.progress.watching import watching
from slotwise.benchmarks.grading.rows import RIGHTLY_REFUSED
from slotwise.benchmarks.grading.sources import read_graph_parts, read_sources
from slotwise.benchmarks.grading.store import alone, local_folder, make_local
from slotwise.models.errors import InputError
from slotwise.models.prediction.assumptions import Assumptions, read_assumptions
from slotwise.models.values import time_limit, whole
from slotwise.pipeline.spark.masters import (
    DRIVER_MEMORY,
    MEMORY_ASKED,
    SHORT_LIVED,
    Cluster,
    is_local,
)
from slotwise.pipeline.spark.session import session
from slotwise.solver.core.limited import check_takes_work, wall_limit_s
from slotwise.solver.engines import ENGINES

_LITTLE_MEMORY = {DRIVER_MEMORY: "1g"}
"""So that a million planned runs take less than 2 GB, Java and Python together."""

_ON_A_CLUSTER = {"spark.sql.shuffle.partitions": "16"}
"""Of the joins of the plan: Spark's 200 tasks would take longer than a million runs need."""


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
    seeds: int = 1,
    count: int | None = None,
    parts: int | str | Sequence[int | str] = (),
    balance: float | None = None,
    conf: Mapping[str, str] | None = None,
    archive: str | os.PathLike[str] | None = None,
    retry_failed: bool = False,
    deterministic: bool = False,
    crosscheck: float = 0.0,
    predict: bool = False,
    assume: str | os.PathLike[str] | None = None,
    progress: bool = False,
    log: str | os.PathLike[str] | None = None,
) -> GradeSummary:
    """Run what the folder `out` has no row of yet; append the rows there.

    Parameters
    ----------
    sources
        Families, files of instances or allocation cases, folders of them, graph files, one or
        several; none = all families that are not held out.
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
        grading at a time may write into it: a second is refused where the folder can be locked.
    seed, count
        Of families, methods and engine; instances per family, ``None`` = the family's own.
    parts
        Into how many equal parts each graph file is partitioned, an instance for each number; a
        text is read as ``2,4,8``. Only with graph files, and always with them.
    balance
        Of these parts: largest weight relative to its share, 1 or more; ``None`` = 1.03.
    seeds
        Runs of each method that draws, with `seed` and the next seeds; others run once.
    conf
        Settings of Spark, such as ``{"spark.task.cpus": "4"}``, over ours; ``None`` = none.
    archive
        File of `pack` that the executors' Python is in; ``None`` = they have slotwise installed.
    retry_failed
        Also run again what has a failure as its newest row: error, crashed, timeout or
        memory. The new rows count.
    deterministic
        `time_limit_s` counts units of work instead of seconds: the same call gives the same rows
        but for times and memory, on any number of executors, in any order, on a busy machine. Each
        exact run has one thread.
    crosscheck
        Share of the instances, 0 to 1, whose exact answer a second, different engine confirms;
        drawn by the instances' hashes and the seed.
    predict
        Also predict what each valid placement is worth, throughput and latency, in columns of its
        row; one that was graded without is run once more.
    assume
        File of defaults for what the instances do not say of their workload, as of `predict`;
        ``None`` = a placement of an instance that does not say all that is needed is not predicted.
        Only with `predict`.
    progress
        Show on stderr how far it is: bars on a terminal, elsewhere a line every ten seconds.
    log
        File that events are appended to as JSON lines (``docs/grading.md``); ``None`` = none.

    Raises
    ------
    DisagreementError
        With `crosscheck`, where two rows cannot both be right; it names their certificates.
    InputError
        For an unknown name, a method or an engine that none of the cases is for, a bad number, or a
        folder that another grading is writing into, before Spark starts.
    KeyboardInterrupt
        On Ctrl-C, with the rows of finished tasks kept; the same call resumes.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.grade("rstorm", methods="r-storm", time_limit_s=5, out="out")  # doctest: +SKIP
    GradeSummary out: 9 instances, 18 runs, 0 of them skipped; feasible 9, optimal 9
    """
    started = time.perf_counter()
    engine = known_engine(engine)
    time_limit_s = time_limit(time_limit_s, "time_limit_s")
    _check_numbers(seed, seeds, count, memory_limit_mb)
    names = known_methods(methods)
    share = checked_share(crosscheck)
    if deterministic:
        check_takes_work(ENGINES.get(engine), workers=1)
    assumptions = _assumptions(predict, assume)
    cluster = _cluster(master, archive, conf or {})
    if is_local(master):
        check_commands(names)
    named = read_sources(_written(sources), count, read_graph_parts(parts, balance))
    names = applicable(names, named.subjects, chosen=methods is not None)
    check_engine_applies(engine, named.subjects)
    make_local(out)
    plan: dict[str, Any] = {"out": os.fspath(out), "methods": list(names), "engine": engine}
    plan |= {"master": master, "time_limit_s": time_limit_s, "seed": seed}

    def batch_of(workers: int) -> Batch:
        folder = os.getcwd() if is_local(master) else None
        limits = RunLimits(time_limit_s, workers, seed, folder, memory_limit_mb)
        limits = replace(
            by_work(limits) if deterministic else limits,
            crosscheck=share > 0,
            seeds=seeds,
            assumptions=assumptions,
        )
        return Batch(
            address=address_of(out),
            sources=named,
            settings=make_settings(named.subjects, names, engine, limits),
            seed=seed,
            retry_failed=retry_failed,
            stages=grading_stages(share, seed),
            narrowed=partial(without_unsampled, share=share, seed=seed) if share else None,
        )

    local = local_folder(out)
    command = command_text(
        _written(sources),
        None if methods is None else names,
        {
            "--engine": None if engine == AUTO else engine,
            "--time-limit": f"{time_limit_s:g}",
            "--memory-limit": memory_limit_mb,
            "--deterministic": deterministic,
            "--crosscheck": crosscheck or None,
            "--predict": predict,
            "--assume": None if assume is None else os.fspath(assume),
            "--count": count,
            "--parts": parts if isinstance(parts, int | str) else ",".join(map(str, parts)) or None,
            "--balance": balance,
            "--seed": seed,
            "--seeds": seeds,
        },
    )
    with alone(out), watching(plan, None if log is None else Path(log), progress) as watcher:
        if local is not None:
            keep_command(local, command)
        with watcher.waiting("finding what is to be run"):
            done = None if local is None else finished(batch_of(workers=1), local)
        if done is None:
            with session(cluster, watcher.waiting("starting Spark")) as spark:
                batch = batch_of(task_cpus(spark))
                done = run_batch(spark, batch, RIGHTLY_REFUSED, watcher)
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


def _written(sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    paths = (sources,) if isinstance(sources, str | os.PathLike) else sources
    return [os.fspath(source) for source in paths]


def _assumptions(predict: bool, assume: str | os.PathLike[str] | None) -> Assumptions | None:
    """Return what predictions assume; ``None`` = nothing is predicted."""
    if assume is None:
        return Assumptions() if predict else None
    if not predict:
        rule = "is for predictions: give --predict as well"
        raise InputError(rule, field="assume", value=os.fspath(assume))
    return read_assumptions(os.fspath(assume))


def _check_numbers(seed: int, seeds: int, count: int | None, memory_limit_mb: int | None) -> None:
    whole(seed, "seed")
    whole(seeds, "seeds", least=1)
    for number, name in ((count, "count"), (memory_limit_mb, "memory_limit_mb")):
        if number is not None:
            whole(number, name, least=1)


def _cluster(
    master: str, archive: str | os.PathLike[str] | None, conf: Mapping[str, str]
) -> Cluster:
    """Return where Spark runs, checked; `conf` goes over ours."""
    # The runs are processes of Python: Java only plans them and stores their rows.
    here = SHORT_LIVED if MEMORY_ASKED in os.environ else {**_LITTLE_MEMORY, **SHORT_LIVED}
    ours = here if is_local(master) else _ON_A_CLUSTER
    cluster = Cluster(master, None if archive is None else Path(archive), {**ours, **conf})
    cluster.check()
    return cluster


def by_work(limits: RunLimits) -> RunLimits:
    """Return limits whose seconds are units of work instead, on one thread, with a safety limit."""
    units = limits.time_limit_s
    return replace(limits, time_limit_s=wall_limit_s(units), workers=1, work=units)


def checked_share(share: object) -> float:
    """Return the share of instances that is cross-checked.

    Raises
    ------
    InputError
        When it is not a number from 0 to 1.
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InputError("must be a share from 0 to 1", field="crosscheck", value=share)
    return float(share)
