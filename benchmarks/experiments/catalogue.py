"""The experiments by name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from slotwise.models.errors import InputError, SlotwiseError


@dataclass(frozen=True, slots=True)
class Experiment:
    """A program: its module, with `add_options(parser)` and `run(options)`, and what it shows.

    The name of the module is relative to this package.
    """

    module: str
    shows: str


EXPERIMENTS: dict[str, Experiment] = {
    "proofs": Experiment(
        ".proofs.rstorm",
        "how fast the engines prove R-Storm's topologies, compared with textbook models",
    ),
    "storm_proofs": Experiment(
        ".proofs.storm",
        "how far the engines get on the topologies of Storm's decoded clusters",
    ),
    "storm_like_proofs": Experiment(
        ".proofs.storm_like",
        "how far the engines get on the family storm-like",
    ),
    "paired_proofs": Experiment(
        ".proofs.paired",
        "the CPU time and the primal integrals of two trees, side by side",
    ),
    "storm_like_fit": Experiment(
        ".storm_like.fit",
        "how well the family storm-like fits the clusters it follows",
    ),
    "storm_like_tables": Experiment(
        ".storm_like.tables",
        "the statistics of decoded clusters that storm-like draws from",
    ),
    "assignment_proofs": Experiment(
        ".proofs.assignment",
        "proofs of public assignment instances, against their best known values",
    ),
    "matrix_proofs": Experiment(
        ".proofs.matrix",
        "root bounds and proofs of random quadratic and constrained assignments",
    ),
    "partition_proofs": Experiment(
        ".proofs.partition",
        "proofs of balanced partitions, compared with textbook models",
    ),
    "partition_family": Experiment(
        ".proofs.partition_family",
        "how many graphs of the family partition each engine proves within its time limit",
    ),
    "partitions_agree": Experiment(
        ".agreement.partitions_agree",
        "whether least cuts of tiny graphs are those of exhaustive search",
    ),
    "prediction_agrees": Experiment(
        ".agreement.prediction_agrees",
        "how far predicted throughput and latency are from simulated ones",
    ),
    "throughput_price": Experiment(
        ".proofs.throughput_price",
        "what the highest throughput costs in network, and the least network in throughput",
    ),
    "fewest_moves": Experiment(
        ".proofs.fewest_moves",
        "whether the fewest moves over all best plans are proven wherever the network is",
    ),
    "fronts": Experiment(
        ".rebalancing.fronts",
        "the best cost for each number of moves, and what the first three moves bring",
    ),
    "machine_loss": Experiment(
        ".rebalancing.machine_loss",
        "one or two machines died: how soon every task has a place, and the best one is proven",
    ),
    "stromax_rebalance": Experiment(
        ".rebalancing.load_shift",
        "StroMAX's reassignment after a load shift, compared with the optimum with as many moves",
    ),
    "whole_cluster": Experiment(
        ".storm.whole_cluster",
        "the best placement of all topologies of a cluster together, and a proven bound",
    ),
    "explain_conflicts": Experiment(
        ".proofs.conflicts",
        "minimal conflicts and cheapest repairs of infeasible instances, each checked again",
    ),
    "contradictions": Experiment(
        ".proofs.contradictions",
        "how soon contradictions of ten kinds are proven, and that no feasible instance has one",
    ),
    "rstorm_window": Experiment(
        ".proofs.rstorm_window",
        "R-Storm's throughput over round robin's, by bandwidth alone and with windows and delays",
    ),
    "rstorm_table": Experiment(
        ".proofs.rstorm_table",
        "R-Storm's versions compared with the optimum and the article",
    ),
    "engines_agree": Experiment(
        ".agreement.engines_agree",
        "whether all engines agree on random instances",
    ),
    "storm_times": Experiment(
        ".storm.times",
        "seconds of Storm's own scheduler compared with ours",
    ),
    "storm_sequence": Experiment(
        ".storm.sequence",
        "topologies of a cluster placed one after another",
    ),
    "storm_throughput": Experiment(
        ".storm.throughput.experiment",
        "tuples per second of placements on a real Storm, beside prediction and simulation",
    ),
    "ras_choices": Experiment(
        ".storm.evictions",
        "Storm's evictions compared with the smallest ones",
    ),
    "ras_speed": Experiment(
        ".storm.ras_speed",
        "seconds of ras-default against executors and nodes",
    ),
    "slots": Experiment(
        ".proofs.slots",
        "how fast SAM's fewest slots are proven",
    ),
    "measured_round_trip": Experiment(
        ".measuring.round_trip",
        "whether the optimum of an instance measured from simulated logs is one of the true one",
    ),
    "measure_damage": Experiment(
        ".measuring.damage",
        "whether weights of damaged logs are right, refused or wrong in silence",
    ),
    "measure_shapes": Experiment(
        ".measuring.shapes",
        "seconds, memory and errors of measure on logs of many shapes, sizes and masters",
    ),
    "judge_speed": Experiment(".speed.judge", "how long one judgement takes at scale"),
    "predict_speed": Experiment(".speed.predict", "how long one prediction takes at scale"),
    "cp_sat_work": Experiment(
        ".speed.cp_sat_work",
        "CP-SAT's deterministic work, to compare checkouts",
    ),
    "partition_speed": Experiment(
        ".speed.partition",
        "seconds, memory, edge cut and balance of graph partitioners against edges",
    ),
    "statistics_speed": Experiment(
        ".speed.statistics",
        "seconds and memory of the statistics against lines, compared with pandas and plain Python",
    ),
    "grading_speed": Experiment(
        ".speed.harness",
        "what the harness of a grading takes, compared with a bare process",
    ),
    "summary_speed": Experiment(
        ".speed.summary", "seconds and memory of a summary against the number of rows"
    ),
    "cli_speed": Experiment(".speed.cli", "how long slotwise --help takes"),
    "interrupts": Experiment(
        ".speed.interrupts",
        "how soon Ctrl-C ends a solve, and what is kept",
    ),
    "follow_killed": Experiment(
        ".measuring.killed",
        "whether follow, killed again and again, loses a line or counts one twice",
    ),
    "follow_speed": Experiment(
        ".measuring.follow_speed",
        "lines a second and memory of follow from a topic of Kafka, against the batch job",
    ),
    "masters_agree": Experiment(
        ".agreement.masters_agree",
        "whether a grading has the same rows on every kind of Spark master",
    ),
    "profile_accuracy": Experiment(
        ".speed.profile_accuracy",
        "peak rates that profile measures, compared with those known by construction",
    ),
    "planned_runs": Experiment(
        ".speed.planned_runs",
        "how soon a grading starts that has nearly all of a million rows, and in what memory",
    ),
    "time_limits": Experiment(
        ".speed.time_limits",
        "whether solves end at their time limit",
    ),
    "memory_limits": Experiment(
        ".speed.memory_limits",
        "whether solves keep to their memory limit",
    ),
}


def run_experiment(name: str, arguments: Sequence[str]) -> int:
    """Run one of `EXPERIMENTS`; return its exit code.

    That is 2 where the input is wrong and 1 where another error of ours ends it, as one does where
    what it checks does not hold, and 130 after Ctrl-C. Each is one line on stderr.
    """
    experiment = EXPERIMENTS[name]
    module = import_module(experiment.module, __package__)
    parser = argparse.ArgumentParser(
        f"python -m slotwise.benchmarks.experiments {name}",
        description=f"Shows {experiment.shows}.",
    )
    module.add_options(parser)
    options = parser.parse_args(arguments)
    try:
        module.run(options)
    except SlotwiseError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 2 if isinstance(error, InputError) else 1
    except KeyboardInterrupt:
        sys.stderr.write(f"{name}: interrupted\n")
        return 130
    return 0
