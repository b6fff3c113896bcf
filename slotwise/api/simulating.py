"""Simulated logs of a placed instance, whose true weights are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from slotwise.api.inputs import (
    DecodedCluster,
    InstanceLike,
    PlacementLike,
    as_placement,
    as_problem,
)
from slotwise.api.placing import as_method
from slotwise.heuristics.method import Method
from slotwise.heuristics.run import run_method
from slotwise.models.errors import InputError
from slotwise.models.instance.placement import Placement, Refusal
from slotwise.models.judge.moves import running_placement
from slotwise.models.problem.problem import Problem
from slotwise.models.values import number_of_text
from slotwise.pipeline.simulated_logs.settings import LogSettings
from slotwise.pipeline.simulated_logs.simulate import simulate

DEFAULT_METHOD = "r-storm"


def generate_logs(
    instance: InstanceLike,
    out: str | Path,
    *,
    lines: int,
    placement: PlacementLike | None = None,
    method: str | Method | None = None,
    seed: int = 0,
    kind: str = "both",
    metrics: str = "v1",
    files: int = 1,
    gzip: bool = False,
    bucket_seconds: int = 60,
    start: int = 1_700_000_040,
    rate: float = 1000.0,
    tuple_bytes: float = 1.0,
    ghz: Sequence[float] | str = (2.0,),
    noise: float = 0.05,
    faults: float = 0.0,
    late_by: int = 900,
    skew: int = 0,
    restarts: int = 0,
    scale: Mapping[str, float] | Sequence[str] | None = None,
    scale_from: int = 0,
    **decoded: Unpack[DecodedCluster],
) -> dict[str, Any]:
    """Simulate a placed instance and write its logs into a new folder.

    Parameters
    ----------
    instance
        What runs: an `Instance`, a compiled problem, a path, a dict or text. Streams' rates and
        tuple sizes, and components' demands at those rates, are the truth.
    out
        A folder that is new or empty. It is written whole or not at all.
    placement
        Where the tasks run; ``None`` = where `method` places them.
    method
        Name of a method or a `Method`, where there is no `placement`; ``None`` = the instance's
        `running`, else ``r-storm``.
    lines, seed, kind, metrics, files, gzip, bucket_seconds, start, rate, tuple_bytes, ghz, noise
        What is written; see `slotwise.pipeline.simulated_logs.settings.LogSettings`.
    faults, late_by, skew, restarts, scale, scale_from
        What goes wrong, and a shift of the load; see there. `ghz` and `scale` may also be written
        as on the command line: ``"2.0,3.5"``, ``["split=2"]``.
    decoded
        How a decoded Storm cluster is read: `topology`, `worker_min_cpu`, `submitters`; see
        `read_instance`.

    Returns
    -------
    dict
        The content of ``truth.json``: true costs, rates and totals, and how many faulty lines of
        each kind were planted.

    Raises
    ------
    InputError
        For bad input, a topology that is placed in part, or a folder that is not empty.
    MethodError
        When the method breaks down.

    Examples
    --------
    >>> import slotwise, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> truth = slotwise.generate_logs("docs/examples/word-count.json", folder.name, lines=100)
    >>> sorted(truth["lines"])
    ['json', 'storm']
    """
    settings = LogSettings(
        lines=lines,
        seed=seed,
        kind=kind,
        metrics=metrics,
        files=files,
        gzip=gzip,
        bucket_seconds=bucket_seconds,
        start=start,
        rate=rate,
        tuple_bytes=tuple_bytes,
        ghz=_rates(ghz),
        noise=noise,
        faults=faults,
        late_by=late_by,
        skew=skew,
        restarts=restarts,
        scale=_factors(scale or {}),
        scale_from=scale_from,
    )
    problem = as_problem(instance, **decoded)
    placed = _placement(problem, placement, method, seed)
    return simulate(problem.instance, placed, settings, Path(out))


def _number(text: str, field: str) -> float:
    return float(number_of_text(text.strip(), field))


def _rates(ghz: Sequence[float] | str) -> tuple[float, ...]:
    """Return clock rates, also of a text ``2.0,3.5``."""
    if isinstance(ghz, str):
        return tuple(_number(rate, "ghz") for rate in ghz.split(","))
    return tuple(ghz)


def _factors(scale: Mapping[str, float] | Sequence[str]) -> dict[str, float]:
    """Return component -> factor, also of texts ``COMPONENT=FACTOR``."""
    if isinstance(scale, Mapping):
        return dict(scale)
    factors = {}
    for text in scale:
        component, equals, factor = text.rpartition("=")
        if not equals or not component:
            raise InputError("must be COMPONENT=FACTOR", field="scale", value=text)
        factors[component] = _number(factor, "scale")
    return factors


def _placement(
    problem: Problem, placement: PlacementLike | None, method: str | Method | None, seed: int
) -> Placement:
    if placement is not None and method is not None:
        rule = "cannot be given together with `placement`"
        raise InputError(rule, field="method", value=method)
    if placement is not None:
        return as_placement(placement, problem.instance)
    running = running_placement(problem) if method is None else None
    if running is not None:
        return running
    chosen = as_method(DEFAULT_METHOD if method is None else method)
    placed = run_method(problem, chosen, seed)
    if isinstance(placed, Refusal):
        rule = f"places nothing ({placed.reason}); give `placement`"
        raise InputError(rule, field="method", value=chosen.name)
    return placed
