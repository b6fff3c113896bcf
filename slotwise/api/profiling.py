"""Measuring the performance model of a task on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from slotwise.models.errors import InputError
from slotwise.models.performance.file import write_models
from slotwise.models.performance.model import PerformanceModel
from slotwise.models.values import one_of
from slotwise.pipeline.profiling.settings import Parallel, Settings
from slotwise.pipeline.profiling.slot import check_task, core_of
from slotwise.pipeline.profiling.sweep import model_of, sweep
from slotwise.pipeline.profiling.trial import Trial, run_trial, trials_file

Around = Callable[[Callable[..., Trial], int, float, Settings], Trial]
"""Runs a trial of a number of threads at a rate; it may report before and after."""


@dataclass(frozen=True, slots=True)
class Profiled:
    """A measured model.

    Parameters
    ----------
    model
        As written to the file.
    trials
        All that were measured, in their order.
    left_out
        Numbers of threads left out of the model as noise, being slower than fewer threads.
    """

    model: PerformanceModel
    trials: tuple[Trial, ...]
    left_out: tuple[int, ...]

    def __repr__(self) -> str:
        """One line: name, trials, threads measured."""
        threads = ", ".join(str(one.threads) for one in self.model.measurements)
        return f"Profiled {self.model.name}: {len(self.trials)} trials, threads {threads}"


def profile(
    task: str,
    out: str | os.PathLike[str],
    *,
    name: str | None = None,
    parallel: str = "threads",
    threads: str | Iterable[int] = (1, 2, 4, 8, 16, 32, 64),
    seconds: float = 2.0,
    warm_up: float = 0.5,
    first_rate: float = 10.0,
    max_rate: float = 1_000_000.0,
    resolution: float = 0.05,
    max_slope: float = 0.02,
    core: int | None = None,
    memory_mb: int = 3584,
    around: Around | None = None,
) -> Profiled:
    """Measure the performance model of a task on this machine.

    Runs trials of more and more threads at higher and higher rates, on one core, until more threads
    do not help. Each finished trial is kept in a file beside `out`: after Ctrl-C, the same call
    resumes.

    Parameters
    ----------
    task
        ``package.module:callable``, called with each tuple's number; or a command that answers
        each line of its stdin with a line.
    out
        Path of the model's file (JSON, YAML, CSV, Parquet); the trials are written beside it.
    name
        Of the model; ``None`` = the file's name without its ending.
    parallel
        ``threads``, or ``processes`` (no shared Python lock).
    threads
        Numbers of threads to try, rising from 1, as numbers or as ``"1,2,4"``.
    seconds, warm_up
        Each trial measures for `seconds`, after `warm_up` seconds that do not count.
    first_rate, max_rate
        First and highest rate, tuples/s.
    resolution
        Relative precision of peak rates.
    max_slope
        A trial is stable where latency rises by at most this many seconds per second.
    core
        Core for the task; ``None`` = the last one.
    memory_mb
        Memory of a slot, MB.
    around
        Wraps each trial: called with the function that runs it, threads, rate and settings;
        ``None`` = trials are not wrapped.

    Raises
    ------
    InputError
        For bad input, or a task that cannot be run.
    KeyboardInterrupt
        On Ctrl-C; the trials are kept.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.profile("my_tasks:parse", "parse.json")  # doctest: +SKIP
    Profiled parse: 31 trials, threads 1, 2, 4
    """
    one_of(parallel, tuple(Parallel), "parallel")
    settings = Settings(
        parallel=Parallel(parallel),
        threads=_thread_counts(threads),
        seconds=seconds,
        warm_up=warm_up,
        first_rate=first_rate,
        max_rate=max_rate,
        resolution=resolution,
        max_slope=max_slope,
        memory_mb=memory_mb,
        core=core,
    )
    check_task(task)
    core_of(settings)
    path = Path(out)
    file = trials_file(path.with_name(path.name + ".trials.jsonl"), task, settings)
    plainly = partial(run_trial, task)

    def run(threads: int, rate: float) -> Trial:
        if around is None:
            return plainly(threads, rate, settings)
        return around(plainly, threads, rate, settings)

    for trial in sweep(run, settings, tuple(file.rows)):
        file.append(trial)
    model, left_out = model_of(name or path.stem, file.rows)
    write_models(path, {model.name: model}, source=f"slotwise profile, {len(file.rows)} trials")
    return Profiled(model, tuple(file.rows), left_out)


def _thread_counts(given: str | Iterable[int]) -> tuple[int, ...]:
    if not isinstance(given, str):
        return tuple(given)
    try:
        return tuple(int(part) for part in given.split(","))
    except ValueError as error:
        rule = "must be whole numbers separated by commas"
        raise InputError(rule, field="threads", value=given) from error
