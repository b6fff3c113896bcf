"""A grading's stage of methods, through Spark: from the plan to the rows in their folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path

from slotwise.benchmarks.grading.batch.start import Batch, run_batch
from slotwise.benchmarks.grading.oracle.stages import grading_stages
from slotwise.benchmarks.grading.plan import RunLimits, make_settings
from slotwise.benchmarks.grading.progress.watching import watching
from slotwise.benchmarks.grading.rows import RIGHTLY_REFUSED, Kind, Subject
from slotwise.benchmarks.grading.sources import CaseRange, Sources
from slotwise.pipeline.spark.session import session

Graded = Callable[[int], dict[str, float]]
"""Grade a number of instances, in a folder of their own; say how many runs that were."""


@contextmanager
def by_grading(
    master: str, family: str, methods: Sequence[str], limits: RunLimits
) -> Iterator[Graded]:
    """Start Spark, which is stopped in the end; exact runs are left out."""
    settings = make_settings([Subject.PLACEMENT], methods, "auto", limits)
    heuristics = [setting for setting in settings if setting.kind != Kind.EXACT]
    of_methods, *_ = grading_stages(0, 0)
    with (
        tempfile.TemporaryDirectory(prefix="slotwise-graded-") as folder,
        session(master, nullcontext()) as spark,
    ):

        def graded(count: int) -> dict[str, float]:
            batch = Batch(
                address=str(Path(tempfile.mkdtemp(dir=folder))),
                sources=Sources((CaseRange(family, count),)),
                settings=heuristics,
                seed=0,
                retry_failed=False,
                stages=(of_methods,),
            )
            with watching({}, None, False) as watcher:
                done = run_batch(spark, batch, RIGHTLY_REFUSED, watcher)
            assert done.skipped == 0
            return {"runs": done.planned}

        yield graded
