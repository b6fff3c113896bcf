"""The article's micro DAGs Linear, Diamond and Star (section 8.1), see `models.dataflow`."""

from __future__ import annotations

from itertools import pairwise

from slotwise.models.dataflow import Dataflow, DataflowTask, Stream

_KINDS = ("blob", "table", "pi", "xml", "file")


def _micro(name: str, *stages: tuple[str, ...]) -> Dataflow:
    """Return the DAG in which every task of a stage sends to every task of the next one."""
    stages = (("source",), *stages, ("sink",))
    return Dataflow(
        name,
        tuple(
            DataflowTask(task, task if task in _KINDS else None)
            for stage in stages
            for task in stage
        ),
        tuple(
            Stream(source, target)
            for before, after in pairwise(stages)
            for source in before
            for target in after
        ),
    )


LINEAR = _micro("linear", ("blob",), ("table",), ("pi",), ("xml",), ("file",))
DIAMOND = _micro("diamond", ("blob", "table", "xml", "file"), ("pi",))
STAR = _micro("star", ("blob", "table"), ("xml",), ("pi", "file"))

MICRO_DAGS = {dag.name: dag for dag in (LINEAR, DIAMOND, STAR)}
"""Name -> DAG."""
