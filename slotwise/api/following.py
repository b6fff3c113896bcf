"""Advice on a running cluster: whether a rebalance with few moves pays, as logs come in."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Unpack

from slotwise.api.inputs import InstanceLike, WholeDecodedCluster, as_instance
from slotwise.api.measuring import ClockRates, settings_of
from slotwise.api.paths import path_of
from slotwise.models.errors import InputError
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import write_instance
from slotwise.models.values import Number, exact, seconds
from slotwise.pipeline.following.advice import Advice
from slotwise.pipeline.following.follow import Followed
from slotwise.pipeline.following.follow import follow as follow_stream
from slotwise.pipeline.following.hysteresis import Thresholds
from slotwise.pipeline.following.measuring import Measuring
from slotwise.pipeline.following.saving import Search
from slotwise.pipeline.following.settings import Following, share
from slotwise.pipeline.following.sources import source_of
from slotwise.pipeline.following.stream import Trigger
from slotwise.pipeline.spark.masters import Cluster
from slotwise.pipeline.spark.session import session

Paths = Sequence[str | os.PathLike[str]]


def follow(
    logs: str | os.PathLike[str],
    instance: InstanceLike,
    *,
    checkpoint: str | os.PathLike[str],
    advice: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    trigger: str = "30s",
    once: bool = False,
    max_moves: int = 3,
    min_gain: str = "5%",
    cooldown: str = "10m",
    engine: str = "auto",
    time_limit_s: float = 10.0,
    workers: int = 1,
    seed: int = 0,
    window: str | int = "60s",
    statistic: str = "mean",
    ghz: ClockRates | None = None,
    tuple_bytes: Number | None = None,
    interval: str | float | None = None,
    zone: str = "UTC",
    last: str | int | None = None,
    master: str = "local[*]",
    jars: Paths = (),
    accept_damaged: bool = False,
    starting: AbstractContextManager[object] | None = None,
    on_advice: Callable[[Advice], None] | None = None,
    on_warning: Callable[[str], None] | None = None,
    **decoded: Unpack[WholeDecodedCluster],
) -> Followed:
    """Follow the logs of a running cluster and say, batch by batch, whether a rebalance pays.

    Every line counts exactly once, whenever the process is killed and started again with the same
    checkpoint; the weights are those that `measure` makes of the same files. Ctrl-C ends it.

    Parameters
    ----------
    logs
        A folder, as of `measure`, that complete files appear in; or
        ``kafka://HOST:PORT[,HOST:PORT]/TOPIC``.
    instance
        What runs; as of `measure`. Where tasks run is taken from the logs.
    checkpoint
        Folder for the state of the stream, on a disk of this machine or one that it mounts.
    advice
        File to which each advice is appended as a line of JSON (``slotwise schema advice``);
        ``None`` = ``advice.jsonl`` in the checkpoint.
    out
        File for the instance of the latest weights; ``None`` = none.
    trigger
        Interval at which new lines are read, such as ``"30s"``.
    once
        Whether to end when all present lines have been read.
    max_moves
        Most tasks that a rebalance may move, 0 or more.
    min_gain
        Least relative saving of a term for which it pays, such as ``"5%"``.
    cooldown
        In the logs' time, from the end of one advice to the next, such as ``"10m"``.
    engine, time_limit_s, workers, seed
        Options of the search after each batch; as of `solve`.
    window, statistic, ghz, tuple_bytes, interval, zone, last
        How weights are made; as of `measure`.
    master, starting, decoded
        As of `measure`.
    jars
        Files of a connector to Kafka.
    accept_damaged
        Whether there is advice while more than 5 % of the lines are damaged.
    on_advice
        Called with each advice after it is in the file; ``None`` = nothing is called.
    on_warning
        Called with the reason why there is no advice on a batch; ``None`` = nothing is called.

    Returns
    -------
    Followed
        The number of advices, once it has ended.

    Raises
    ------
    InputError
        For bad input; also for a checkpoint of other logs.
    SlotwiseError
        When Spark does not start, or the stream fails.

    Examples
    --------
    >>> import slotwise
    >>> slotwise.follow("logs", "word-count.json", checkpoint="cp", once=True)  # doctest: +SKIP
    Followed(advices=4, file=PosixPath('cp/advice.jsonl'), interrupted=False)
    """
    settings = settings_of(statistic, window, ghz, interval, zone, last)
    size = None if tuple_bytes is None else exact(tuple_bytes, "tuple_bytes")
    following = Following(
        checkpoint=Path(path_of(checkpoint, "checkpoint", "a path")),
        advice=None if advice is None else Path(path_of(advice, "advice", "a path")),
        trigger=Trigger(float(seconds(trigger, "trigger")), once),
        search=Search(max_moves, engine, time_limit_s, workers, seed),
        thresholds=Thresholds(
            share(min_gain, "min_gain"), round(1000 * seconds(cooldown, "cooldown"))
        ),
    )
    source = source_of(str(path_of(logs, "logs", "a path or an address")))
    cluster = Cluster(master, jars=[_jar(one) for one in jars])
    cluster.check()
    known = as_instance(instance, **decoded)

    def keep(measured: Instance) -> None:
        if out is not None:
            write_instance(path_of(out, "out", "a path"), measured)

    with session(cluster, starting or nullcontext()) as spark:
        measuring = Measuring(known, settings, size, accept_damaged)
        tell, warn = on_advice or (lambda _: None), on_warning or (lambda _: None)
        return follow_stream(spark, source, measuring, following, keep, tell, warn)


def _jar(path: str | os.PathLike[str]) -> str:
    file = Path(path_of(path, "jars", "a path"))
    if not file.is_file():
        raise InputError("is not a file", field="jars", value=str(path))
    return str(file.resolve())
