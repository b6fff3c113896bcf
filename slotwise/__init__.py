"""Place the tasks of stream processors on machines: solve, judge and grade placements.

This is the public interface: every command of the command line is a function here, with its options
as arguments. Behind it are `models` (the problem and its judge), `heuristics` (published methods),
`solver` (exact engines), `pipeline` (metric logs, on Spark), `benchmarks` (grading and its report),
`testing` (the kit for random tests), `processes` (child processes), `api` (these functions) and
`cli` (the command line). Start with `api`. Names are loaded when they are first used, so that
``import slotwise`` costs nothing; loggers below ``slotwise`` are silent unless you configure
`logging`.

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
    # The public names. Nothing else lists them: `models.lazy_names` reads them here.
    from slotwise.api.allocating import Allocated as Allocated
    from slotwise.api.allocating import allocate as allocate
    from slotwise.api.explaining import explain as explain
    from slotwise.api.exporting import convert as convert
    from slotwise.api.following import follow as follow
    from slotwise.api.importing import ImportedCluster as ImportedCluster
    from slotwise.api.importing import import_storm as import_storm
    from slotwise.api.inputs import read_certificate as read_certificate
    from slotwise.api.inputs import read_instance as read_instance
    from slotwise.api.inputs import read_placement as read_placement
    from slotwise.api.judging import judge as judge
    from slotwise.api.listing import families as families
    from slotwise.api.listing import generate as generate
    from slotwise.api.listing import methods as methods
    from slotwise.api.listing import schema as schema
    from slotwise.api.measuring import Measurement as Measurement
    from slotwise.api.measuring import measure as measure
    from slotwise.api.packing import pack as pack
    from slotwise.api.partitioning import partition as partition
    from slotwise.api.placing import place as place
    from slotwise.api.predicting import predict as predict
    from slotwise.api.profiling import profile as profile
    from slotwise.api.rebalancing import Rebalanced as Rebalanced
    from slotwise.api.rebalancing import rebalance as rebalance
    from slotwise.api.reporting import compare as compare
    from slotwise.api.reporting import report as report
    from slotwise.api.reproducing import reproduce as reproduce
    from slotwise.api.scheduling import Scheduled as Scheduled
    from slotwise.api.scheduling import schedule as schedule
    from slotwise.api.show import Drawing as Drawing
    from slotwise.api.show import show as show
    from slotwise.api.simulating import generate_logs as generate_logs
    from slotwise.api.simulating_placements import simulate as simulate
    from slotwise.api.solving import crosscheck as crosscheck
    from slotwise.api.solving import solve as solve
    from slotwise.api.sparing import Spare as Spare
    from slotwise.api.sparing import spare as spare
    from slotwise.api.storm_plans import StormState as StormState
    from slotwise.api.storm_plans import apply_plan as apply_plan
    from slotwise.api.storm_plans import rebalance_commands as rebalance_commands
    from slotwise.api.storm_plans import storm_status as storm_status
    from slotwise.api.summing import read_rows as read_rows
    from slotwise.api.summing import summary as summary
    from slotwise.api.verifying import certify as certify
    from slotwise.api.verifying import verify as verify
    from slotwise.benchmarks.grade import grade as grade
    from slotwise.benchmarks.grading.grade_summary import GradeSummary as GradeSummary
    from slotwise.benchmarks.judged.summary import Summary as Summary
    from slotwise.benchmarks.report.comparison.comparison import Comparison as Comparison
    from slotwise.heuristics.method import MethodError as MethodError
    from slotwise.models.allocation.case import AllocationCase as AllocationCase
    from slotwise.models.certificates import Certificate as Certificate
    from slotwise.models.certificates import write_certificate as write_certificate
    from slotwise.models.dataflow import Dataflow as Dataflow
    from slotwise.models.errors import InputError as InputError
    from slotwise.models.errors import InternalError as InternalError
    from slotwise.models.errors import SlotwiseError as SlotwiseError
    from slotwise.models.formats.placement_file import write_placement as write_placement
    from slotwise.models.instance.cluster import Cluster as Cluster
    from slotwise.models.instance.cluster import Distance as Distance
    from slotwise.models.instance.cluster import Node as Node
    from slotwise.models.instance.instance import Instance as Instance
    from slotwise.models.instance.instance import LinearCost as LinearCost
    from slotwise.models.instance.instance import Objective as Objective
    from slotwise.models.instance.instance import Place as Place
    from slotwise.models.instance.instance import Scheduler as Scheduler
    from slotwise.models.instance.placement import Placement as Placement
    from slotwise.models.instance.placement import Refusal as Refusal
    from slotwise.models.instance.topology import Ackers as Ackers
    from slotwise.models.instance.topology import Component as Component
    from slotwise.models.instance.topology import Constraints as Constraints
    from slotwise.models.instance.topology import RasSettings as RasSettings
    from slotwise.models.instance.topology import SharedMemory as SharedMemory
    from slotwise.models.instance.topology import Stream as Stream
    from slotwise.models.instance.topology import Topology as Topology
    from slotwise.models.instance_file import write_instance as write_instance
    from slotwise.models.judge.verdict import Verdict as Verdict
    from slotwise.models.judge.verdict import Violation as Violation
    from slotwise.models.performance.file import read_models as read_models
    from slotwise.models.performance.file import write_models as write_models
    from slotwise.models.prediction.assumptions import Assumptions as Assumptions
    from slotwise.models.prediction.prediction import Prediction as Prediction
    from slotwise.models.problem.compile import compile_problem as compile_problem
    from slotwise.models.problem.problem import Problem as Problem
    from slotwise.models.simulation.simulation import Simulation as Simulation
    from slotwise.pipeline.following.advice import Advice as Advice
    from slotwise.pipeline.following.follow import Followed as Followed
    from slotwise.pipeline.spark.pack import Packed as Packed
    from slotwise.solver.core.progress import Progress as Progress
    from slotwise.solver.core.result import Result as Result
    from slotwise.solver.core.result import Status as Status
    from slotwise.solver.verification.crosscheck import CrossCheck as CrossCheck
    from slotwise.solver.verification.verify import Verified as Verified


def _home() -> dict[str, str]:
    """Return public name -> module that defines it."""
    from slotwise.models.lazy_names import homes

    return homes(__name__)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name == "__all__":
        return sorted([*_home(), "__version__"])
    if name.startswith("_") or name not in _home():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_home()[name]), name)
    # Here, so that `import slotwise` loads nothing.
    import_module("slotwise.models.display").draw_with(_draw)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*_home(), "__version__"])


def _draw(verdict: Verdict) -> str:
    """Return the drawing of a judged placement for a notebook; loaded with the first one."""
    from slotwise.api.show import drawing

    return drawing(verdict)
