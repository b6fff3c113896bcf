"""Place the tasks of stream processors on machines: solve, judge and grade placements.

This is the public interface: every command of the command line is a function here, with its options
as arguments. Behind it are `models` (the problem and its judge), `heuristics` (published
methods), `solver` (exact engines), `benchmarks` (grading, experiments), `testing` (random
instances), `api` (these functions) and `cli` (the command line). Start with `api`. Names are loaded
when they are first used, so that ``import slotwise`` costs nothing; loggers below ``slotwise`` are
silent unless you configure `logging`.

>>> import slotwise
>>> result = slotwise.solve("docs/examples/word-count.json", time_limit_s=30)
>>> slotwise.judge("docs/examples/word-count.json", result.placement).valid
True
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())

if TYPE_CHECKING:
    from slotwise.api.allocating import Allocated, allocate
    from slotwise.api.explaining import explain
    from slotwise.api.exporting import convert
    from slotwise.api.gradings.packing import pack
    from slotwise.api.gradings.reporting import compare, report
    from slotwise.api.gradings.summing import read_rows, summary
    from slotwise.api.inputs import read_certificate, read_instance, read_placement
    from slotwise.api.judging import judge
    from slotwise.api.listing import families, generate, methods, schema
    from slotwise.api.logs.following import follow
    from slotwise.api.logs.measuring import Measurement, measure
    from slotwise.api.logs.simulating import generate_logs
    from slotwise.api.partitioning import partition
    from slotwise.api.placing import place
    from slotwise.api.profiling import profile
    from slotwise.api.reproducing import reproduce
    from slotwise.api.running.rebalanced import Rebalanced
    from slotwise.api.running.rebalancing import rebalance
    from slotwise.api.running.sparing import Spare, spare
    from slotwise.api.scheduling import Scheduled, schedule
    from slotwise.api.showing.drawing import Drawing
    from slotwise.api.showing.show import show
    from slotwise.api.solving import crosscheck, solve
    from slotwise.api.verifying import certify, verify
    from slotwise.benchmarks.aggregation.summary import Summary
    from slotwise.benchmarks.grade import grade
    from slotwise.benchmarks.grading.grade_summary import GradeSummary
    from slotwise.benchmarks.report.comparison.comparison import Comparison
    from slotwise.heuristics.method_error import MethodError
    from slotwise.models.allocation.case import AllocationCase
    from slotwise.models.certificates.certificate import Certificate
    from slotwise.models.certificates.file import write_certificate
    from slotwise.models.dataflow.dataflow import Dataflow
    from slotwise.models.errors import InputError, InternalError, SlotwiseError
    from slotwise.models.formats.placement_file import write_placement
    from slotwise.models.instance.cluster import Cluster, Node
    from slotwise.models.instance.instance import Instance
    from slotwise.models.instance.placement import Placement, Refusal
    from slotwise.models.instance.topology import Topology
    from slotwise.models.instance_file import write_instance
    from slotwise.models.judge.verdict import Verdict, Violation
    from slotwise.models.performance.file import read_models, write_models
    from slotwise.models.problem.compile import compile_problem
    from slotwise.models.problem.problem import Problem
    from slotwise.pipeline.following.advice import Advice
    from slotwise.pipeline.following.follow import Followed
    from slotwise.pipeline.spark.pack import Packed
    from slotwise.solver.core.progress import Progress
    from slotwise.solver.core.result import Result, Status
    from slotwise.solver.verification.crosscheck import CrossCheck
    from slotwise.solver.verification.verify import Verified

__all__ = [
    "Advice",
    "Allocated",
    "AllocationCase",
    "Certificate",
    "Cluster",
    "Comparison",
    "CrossCheck",
    "Dataflow",
    "Drawing",
    "Followed",
    "GradeSummary",
    "InputError",
    "Instance",
    "InternalError",
    "Measurement",
    "MethodError",
    "Node",
    "Packed",
    "Placement",
    "Problem",
    "Progress",
    "Rebalanced",
    "Refusal",
    "Result",
    "Scheduled",
    "SlotwiseError",
    "Spare",
    "Status",
    "Summary",
    "Topology",
    "Verdict",
    "Verified",
    "Violation",
    "__version__",
    "allocate",
    "certify",
    "compare",
    "compile_problem",
    "convert",
    "crosscheck",
    "explain",
    "families",
    "follow",
    "generate",
    "generate_logs",
    "grade",
    "judge",
    "measure",
    "methods",
    "pack",
    "partition",
    "place",
    "profile",
    "read_certificate",
    "read_instance",
    "read_models",
    "read_placement",
    "read_rows",
    "rebalance",
    "report",
    "reproduce",
    "schedule",
    "schema",
    "show",
    "solve",
    "spare",
    "summary",
    "verify",
    "write_certificate",
    "write_instance",
    "write_models",
    "write_placement",
]

_HOME = {
    "Advice": "slotwise.pipeline.following.advice",
    "Allocated": "slotwise.api.allocating",
    "AllocationCase": "slotwise.models.allocation.case",
    "Certificate": "slotwise.models.certificates.certificate",
    "Cluster": "slotwise.models.instance.cluster",
    "Comparison": "slotwise.benchmarks.report.comparison.comparison",
    "CrossCheck": "slotwise.solver.verification.crosscheck",
    "Dataflow": "slotwise.models.dataflow.dataflow",
    "Drawing": "slotwise.api.showing.drawing",
    "Followed": "slotwise.pipeline.following.follow",
    "GradeSummary": "slotwise.benchmarks.grading.grade_summary",
    "InputError": "slotwise.models.errors",
    "Instance": "slotwise.models.instance.instance",
    "InternalError": "slotwise.models.errors",
    "Measurement": "slotwise.api.logs.measuring",
    "MethodError": "slotwise.heuristics.method_error",
    "Node": "slotwise.models.instance.cluster",
    "Packed": "slotwise.pipeline.spark.pack",
    "Placement": "slotwise.models.instance.placement",
    "Problem": "slotwise.models.problem.problem",
    "Progress": "slotwise.solver.core.progress",
    "Rebalanced": "slotwise.api.running.rebalanced",
    "Refusal": "slotwise.models.instance.placement",
    "Result": "slotwise.solver.core.result",
    "Scheduled": "slotwise.api.scheduling",
    "SlotwiseError": "slotwise.models.errors",
    "Spare": "slotwise.api.running.sparing",
    "Status": "slotwise.solver.core.result",
    "Summary": "slotwise.benchmarks.aggregation.summary",
    "Topology": "slotwise.models.instance.topology",
    "Verdict": "slotwise.models.judge.verdict",
    "Verified": "slotwise.solver.verification.verify",
    "Violation": "slotwise.models.judge.verdict",
    "allocate": "slotwise.api.allocating",
    "certify": "slotwise.api.verifying",
    "compare": "slotwise.api.gradings.reporting",
    "compile_problem": "slotwise.models.problem.compile",
    "convert": "slotwise.api.exporting",
    "crosscheck": "slotwise.api.solving",
    "explain": "slotwise.api.explaining",
    "families": "slotwise.api.listing",
    "follow": "slotwise.api.logs.following",
    "generate": "slotwise.api.listing",
    "generate_logs": "slotwise.api.logs.simulating",
    "grade": "slotwise.benchmarks.grade",
    "judge": "slotwise.api.judging",
    "measure": "slotwise.api.logs.measuring",
    "methods": "slotwise.api.listing",
    "pack": "slotwise.api.gradings.packing",
    "partition": "slotwise.api.partitioning",
    "place": "slotwise.api.placing",
    "profile": "slotwise.api.profiling",
    "read_certificate": "slotwise.api.inputs",
    "read_instance": "slotwise.api.inputs",
    "read_models": "slotwise.models.performance.file",
    "read_placement": "slotwise.api.inputs",
    "read_rows": "slotwise.api.gradings.summing",
    "rebalance": "slotwise.api.running.rebalancing",
    "report": "slotwise.api.gradings.reporting",
    "reproduce": "slotwise.api.reproducing",
    "schedule": "slotwise.api.scheduling",
    "schema": "slotwise.api.listing",
    "show": "slotwise.api.showing.show",
    "solve": "slotwise.api.solving",
    "spare": "slotwise.api.running.sparing",
    "summary": "slotwise.api.gradings.summing",
    "verify": "slotwise.api.verifying",
    "write_certificate": "slotwise.models.certificates.file",
    "write_instance": "slotwise.models.instance_file",
    "write_models": "slotwise.models.performance.file",
    "write_placement": "slotwise.models.formats.placement_file",
}
"""Public name -> module that defines it."""


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    # Here, so that `import slotwise` loads nothing.
    import_module("slotwise.models.display").draw_with(_draw)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)


def _draw(verdict: Verdict) -> str:
    """Return the drawing of a judged placement for a notebook; loaded with the first one."""
    from slotwise.api.showing.show import drawing

    return drawing(verdict)
