"""What `measure` makes of damaged logs: experiment ``measure_damage``.

Each mixture is an hour of simulated logs of a word count, of Storm's lines (both generations) or
JSON, from which consumers, files and hours are missing, and up to 5 % of whose lines are damaged.
Of the weights measured, a demand or rate is right within 2 % of the truth. A mixture is ``right``
if all are; ``refused`` with the reason; ``noted`` where the answer itself says that tasks of the
component are missing, whose weight is off. Else it is wrong in silence, and the exit code is 1.

The mixtures are topologies of one folder, so that one pass over the lines serves many.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pyspark.sql import SparkSession

from slotwise.benchmarks.experiments.measuring.damaged_lines import DAMAGES, damaged
from slotwise.benchmarks.experiments.table import Table
from slotwise.models.errors import InputError, SlotwiseError
from slotwise.models.instance.cluster import Cluster, Node
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import Placement
from slotwise.models.instance.topology import Component, Stream, Topology
from slotwise.models.values import whole
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.simulate import simulate
from slotwise.pipeline.spark.session import session
from slotwise.pipeline.statistics.weights.collected import Collected
from slotwise.pipeline.statistics.weights.coverage import refuse_thinned
from slotwise.pipeline.statistics.weights.logs import Settings, collect_logs
from slotwise.pipeline.statistics.weights.measure import measured_of
from slotwise.pipeline.statistics.weights.measured import Measured, Weight

WITHIN = 0.02
FILES = 4
MINUTES = 60
MOST_DAMAGED = 0.05
RIGHT, REFUSED, NOTED, WRONG = "right", "refused", "noted", "WRONG"

COLUMNS = {
    "mixture": "<9", "lines": "<8", "missing": "<18", "damaged": ">8", "verdict": "<8",
    "worst": ">9", "of": "<16", "inside": ">7", "why": "<0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mixture:
    """What is wrong with the logs of a topology.

    Parameters
    ----------
    name
        Of the topology.
    kind, metrics
        As in `LogSettings`.
    files
        Which of `FILES` consumers' files there are.
    gap
        First and last minute of what is missing; equal: nothing is.
    share
        Of lines that are damaged.
    damages
        How: some of `DAMAGES`.
    """

    name: str
    kind: str
    metrics: str
    files: tuple[int, ...]
    gap: tuple[int, int]
    share: float
    damages: tuple[str, ...]

    @property
    def missing(self) -> str:
        """What is missing, in words."""
        gap = f"min {self.gap[0]}-{self.gap[1]}" if self.gap[0] < self.gap[1] else ""
        files = f"{FILES - len(self.files)} files" if len(self.files) < FILES else ""
        return ", ".join(filter(None, (files, gap))) or "-"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mixture.

    Parameters
    ----------
    verdict
        One of the words in capitals above.
    worst, of
        Largest relative error of a demand or rate, and of which; ``None`` = refused.
    inside, intervals
        How many printed intervals hold the truth, and how many there are.
    why
        The reason, or the note.
    """

    verdict: str
    worst: float | None = None
    of: str = ""
    inside: int = 0
    intervals: int = 0
    why: str = ""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what the command line can say."""
    parser.add_argument("--mixtures", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=50, help="mixtures in one pass")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


def run(options: argparse.Namespace) -> None:
    """Draw, simulate, damage, measure and judge.

    Raises
    ------
    SlotwiseError
        If a mixture is wrong in silence.
    """
    whole(options.mixtures, "--mixtures", least=1)
    whole(options.at_once, "--at-once", least=1)
    table = Table(COLUMNS, options.json)
    verdicts: Counter[str] = Counter()
    inside = intervals = 0
    with session(options.master, nullcontext()) as spark:
        for first in range(0, options.mixtures, options.at_once):
            numbers = range(first, min(options.mixtures, first + options.at_once))
            mixtures = [draw(number, options.seed) for number in numbers]
            for mixture, verdict in zip(
                mixtures, judged(spark, mixtures, options.seed), strict=True
            ):
                table.add({**asdict(mixture), **asdict(verdict)}, _cells(mixture, verdict))
                verdicts[verdict.verdict] += 1
                inside, intervals = inside + verdict.inside, intervals + verdict.intervals
    share = inside / intervals if intervals else None
    summary = {**verdicts, "intervals_with_the_truth": share}
    table.end(summary, [", ".join(f"{key} {value}" for key, value in summary.items())])
    if verdicts[WRONG]:
        raise SlotwiseError(f"{verdicts[WRONG]} of {options.mixtures} mixtures wrong in silence")


def _cells(mixture: Mixture, verdict: Verdict) -> tuple[str, ...]:
    return (
        mixture.name,
        mixture.kind if mixture.kind == "json" else mixture.metrics,
        mixture.missing,
        f"{100 * mixture.share:.2f} %" if mixture.damages else "-",
        verdict.verdict,
        "-" if verdict.worst is None else f"{100 * verdict.worst:.3f} %",
        verdict.of,
        f"{verdict.inside}/{verdict.intervals}",
        verdict.why or " ".join(mixture.damages),
    )


def draw(number: int, seed: int) -> Mixture:
    """Draw a mixture."""
    random = np.random.default_rng([seed, number])
    kind, metrics = (("storm", "v1"), ("storm", "v2"), ("json", "v1"))[number % 3]
    files = tuple(range(FILES))
    if random.random() < 0.4:
        count = int(random.integers(1, FILES))
        files = tuple(sorted(int(one) for one in random.permutation(FILES)[:count]))
    gap = (0, 0)
    if random.random() < 0.3:
        begin = int(random.integers(0, 40))
        gap = (begin, begin + int(random.integers(5, 20)))
    chosen: tuple[str, ...] = ()
    if random.random() < 0.85:
        chosen = tuple(str(one) for one in random.permutation(DAMAGES)[: random.integers(1, 6)])
    share = float(random.uniform(0, MOST_DAMAGED)) if chosen else 0.0
    return Mixture(f"wc{number}", kind, metrics, files, gap, share, chosen)


def judged(spark: SparkSession, mixtures: list[Mixture], seed: int) -> list[Verdict]:
    """Simulate, damage and measure some mixtures in one pass."""
    with TemporaryDirectory(prefix="slotwise-damage-") as name:
        folder = Path(name) / "logs" / "workers-artifacts"
        truths = [_write(one, folder, Path(name) / one.name, seed) for one in mixtures]
        blanks = [_instance(one.name) for one in mixtures]
        collected, _ = collect_logs(spark, folder, blanks, SETTINGS, None)
    return [_verdict(blank, truth, collected) for blank, truth in zip(blanks, truths, strict=True)]


def _write(mixture: Mixture, folder: Path, scratch: Path, seed: int) -> dict[str, Any]:
    """Write the logs of a mixture below `folder`; return their truth."""
    instance = _instance(mixture.name, with_weights=True)
    tasks = len(instance.task_names())
    # One worker on each node, so that workers report to different files.
    placement = Placement(tuple(task % NODES for task in range(tasks)), (0,) * tasks)
    number = int(mixture.name.removeprefix("wc"))
    settings = LogSettings(
        lines=1, seed=seed + number, kind=mixture.kind, metrics=mixture.metrics, noise=0.02
    )
    per_bucket = sum(simulate(instance, placement, settings, scratch / "one")["lines"].values())
    settings = replace(settings, lines=per_bucket * MINUTES, files=FILES)
    truth = simulate(instance, placement, settings, scratch / "logs")
    random = np.random.default_rng([seed, number, 1])
    logs = sorted(path for path in (scratch / "logs").rglob("*") if path.suffix in SUFFIXES)
    for at, path in enumerate(logs):
        if at not in mixture.files:
            continue
        lines = [
            line
            for line in path.read_text("utf-8").splitlines()
            if not mixture.gap[0] < (_second(line) - settings.start) / 60 <= mixture.gap[1]
        ]
        text = damaged(lines, mixture.share, mixture.damages, random)
        target = folder / truth["topologies"][mixture.name]["storm_id"] / str(at)
        target.mkdir(parents=True)
        (target / path.name).write_bytes(text)
    return dict(truth["topologies"][mixture.name])


SUFFIXES = (".metrics", ".jsonl")


def _second(line: str) -> int:
    if line.startswith("{"):
        return int(line.partition('"time": ')[2].partition(",")[0]) // 1000
    return int(line.partition("\t")[0].rpartition(" ")[2])


NODES = 4
SETTINGS = Settings(clocks={f"n{at}": 2 * 10**9 for at in range(NODES)})
_COMPONENTS = (("lines", 2, 50), ("split", 4, 40), ("count", 4, 30))


def _instance(name: str, with_weights: bool = False) -> Instance:
    components = tuple(
        Component(
            id=one,
            kind="bolt" if at else "spout",
            parallelism=tasks,
            resources={
                "onheap_mb": Decimal(128),
                **({"cpu": Decimal(cpu)} if with_weights else {}),
            },
        )
        for at, (one, tasks, cpu) in enumerate(_COMPONENTS)
    )
    ends = (("lines", "split", "shuffle"), ("split", "count", "fields"))
    streams = tuple(Stream(source=a, target=b, grouping=kind) for a, b, kind in ends)
    resources = {"cpu": Decimal(800), "memory_mb": Decimal(8192)}
    nodes = tuple(Node(id=f"n{at}", rack="r1", slots=4, resources=resources) for at in range(NODES))
    topology = Topology(id=name, components=components, streams=streams)
    return Instance(name=name, cluster=Cluster(nodes=nodes), topologies=(topology,))


def _verdict(blank: Instance, truth: dict[str, Any], collected: Collected) -> Verdict:
    try:
        refuse_thinned(blank, collected)
        measured = measured_of(blank, collected, "mean", 60)
    except InputError as error:
        return Verdict(REFUSED, why=str(error))
    errors = []
    inside = intervals = 0
    for name, weight, true in _pairs(measured, truth):
        errors.append((abs(float(weight.value) / true - 1), name))
        if weight.low is not None and weight.high is not None and not weight.estimated:
            intervals += 1
            inside += float(weight.low) <= true <= float(weight.high)
    worst, subject = max(errors)
    wrong = [name for error, name in errors if error > WITHIN]
    notes = [note for note in measured.notes if " tasks; " in note]
    if not wrong:
        return Verdict(RIGHT, worst, subject, inside, intervals)
    is_noted = all(any(name.split()[-1] in note for note in notes) for name in wrong)
    kind = NOTED if is_noted else WRONG
    return Verdict(kind, worst, subject, inside, intervals, notes[0] if is_noted else "")


def _pairs(measured: Measured, truth: dict[str, Any]) -> list[tuple[str, Weight, float]]:
    """Return name, weight and truth of each demand and rate that was measured."""
    pairs = []
    for component in measured.components:
        true = truth["components"][component.component]
        for key, weight in (("ghz_ms_per_tuple", component.cost), ("cpu_points", component.cpu)):
            if weight is not None:
                pairs.append((f"{key.partition('_')[0]} {component.component}", weight, true[key]))
    for stream in measured.streams:
        (true,) = (
            one
            for one in truth["streams"]
            if (one["from"], one["to"]) == (stream.source, stream.target)
        )
        if stream.received is not None:
            pairs.append((f"rate {stream.target}", stream.received, true["tuples_per_s"]))
    return pairs
