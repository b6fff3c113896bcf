"""The command ``generate logs``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from slotwise.cli import exits, options
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError
from slotwise.models.values import number_of_text


@options.decoded_cluster
def generate_logs(
    instance: options.Instance,
    out: options.OutDir,
    lines: Annotated[int, typer.Option(metavar="N", help="Least number of lines in all.")],
    placement: Annotated[
        str | None, typer.Option(metavar="PLAN", help="Placement file, as in judge.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Method that places; default: what the instance says is running, else r-storm.",
        ),
    ] = None,
    seed: options.Seed = 0,
    kind: Annotated[str, typer.Option(metavar="KIND", help="storm, json or both.")] = "both",
    metrics: Annotated[
        str,
        typer.Option(metavar="V", help="Storm's counts: v1 per bucket, v2 since the start."),
    ] = "v1",
    files: Annotated[int, typer.Option(metavar="N", help="Files per topology and kind.")] = 1,
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress the files.")] = False,
    bucket_seconds: Annotated[int, typer.Option(help="Seconds between reports.")] = 60,
    start: Annotated[int, typer.Option(help="Start of the log, seconds since 1970.")] = (
        1_700_000_040
    ),
    rate: Annotated[
        float,
        typer.Option(help="Tuples/s of each component without input, where no rate is stated."),
    ] = 1000.0,
    tuple_bytes: Annotated[
        float, typer.Option(help="Size of a tuple where the stream states none.")
    ] = 1.0,
    ghz: Annotated[
        str, typer.Option(metavar="LIST", help="Clock rates of the nodes, repeated as needed.")
    ] = "2.0",
    noise: Annotated[
        float, typer.Option(help="Noise of latencies, sizes and counts; 0 = exact.")
    ] = 0.05,
    faults: Annotated[float, typer.Option(metavar="SHARE", help="Share of faulty lines.")] = 0.0,
    late_by: Annotated[
        int, typer.Option(metavar="SECONDS", help="Least delay of a late line.")
    ] = 900,
    skew: Annotated[
        int, typer.Option(metavar="SECONDS", help="Most that a node's clock is wrong.")
    ] = 0,
    restarts: Annotated[int, typer.Option(metavar="N", help="Restarts of workers.")] = 0,
    scale: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMPONENT=FACTOR", help="Scale a component's cost per tuple; repeatable."
        ),
    ] = None,
    scale_from: Annotated[
        int, typer.Option(metavar="SECOND", help="Second after the start from which --scale holds.")
    ] = 0,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Simulate a placed instance and write its metric logs, the truth beside them.

    The folder must be new or empty; after an error or Ctrl-C nothing is left of it.
    """
    with exits.held():
        from slotwise.api.logs import simulating

    clocks = [_number(word, "--ghz") for word in ghz.split(",")]
    named = {name: f"--{name.replace('_', '-')}" for name in _CHECKED}
    with options.as_options(**named):
        truth = simulating.generate_logs(
            instance,
            out,
            lines=lines,
            placement=placement,
            method=method,
            seed=seed,
            kind=kind,
            metrics=metrics,
            files=files,
            gzip=gzip,
            bucket_seconds=bucket_seconds,
            start=start,
            rate=rate,
            tuple_bytes=tuple_bytes,
            ghz=clocks,
            noise=noise,
            faults=faults,
            late_by=late_by,
            skew=skew,
            restarts=restarts,
            scale=dict(_factor(text) for text in scale or ()),
            scale_from=scale_from,
            **decoded,
        )
    if as_json:
        print_json(truth)
    else:
        counts = ", ".join(f"{count:,} {kind} lines" for kind, count in truth["lines"].items())
        exits.emit(f"{out}: {counts}; {truth['seconds']:,} s\n")
    return Exit.DONE


_CHECKED = (
    *("lines", "out", "placement", "method", "kind", "metrics", "files", "bucket_seconds", "start"),
    *("rate", "tuple_bytes", "ghz", "noise", "faults", "late_by", "skew", "restarts", "scale"),
    "scale_from",
)


def _number(text: str, option: str) -> float:
    return float(number_of_text(text.strip(), option))


def _factor(text: str) -> tuple[str, float]:
    component, equals, factor = text.rpartition("=")
    if not equals or not component:
        raise InputError("must be COMPONENT=FACTOR", field="--scale", value=text)
    return component, _number(factor, "--scale")
