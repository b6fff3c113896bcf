"""The command ``grade``: methods and the exact engine on many instances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Purpose, own_command
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError


@own_command(Purpose.COMPARE)
def grade(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAMILY|PATH",
            help="Families, files of instances or allocation cases, folders of such files, or "
            "graph files (--parts); default: all families that are not held out.",
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Methods to grade, including 'cmd:COMMAND', with parameters "
            "(r-storm:normalise=capacity), and allocation pairs (mba+sam); default: all. "
            "Repeatable.",
        ),
    ] = None,
    engine: options.Engine = "auto",
    time_limit: options.TimeLimit = 60.0,
    memory_limit: options.MemoryLimit = None,
    deterministic: options.Deterministic = False,
    crosscheck: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="Share of the instances, 0 to 1, whose exact answer a second, different engine "
            "confirms; a disagreement stops the batch.",
        ),
    ] = 0.0,
    predict: Annotated[
        bool,
        typer.Option(
            "--predict",
            help="Also predict throughput and latency of each valid placement; see predict.",
        ),
    ] = False,
    assume: options.Assume = None,
    count: options.Count = None,
    parts: Annotated[
        list[str] | None,
        typer.Option(
            metavar="K,L",
            help="Parts that graph files are partitioned into, such as 2,4,8: an instance for each "
            "number. Repeatable.",
        ),
    ] = None,
    balance: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Largest weight of a part relative to its share, 1 or more; default: 1.03.",
        ),
    ] = None,
    seed: options.Seed = 0,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, help="Runs of each method that draws, with N seeds from --seed on."
        ),
    ] = 1,
    master: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Spark master, for example spark://host:7077, or sc://host:15002 (Spark Connect).",
        ),
    ] = "local[*]",
    conf: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="Setting of Spark, such as spark.task.cpus=4. Repeatable."
        ),
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="What slotwise pack wrote, for executors without slotwise."
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Folder of the rows, any that Spark can write: here, shared, hdfs:// or s3a://.",
        ),
    ] = "out",
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Also run again what ended as error, crashed, timeout or memory.",
        ),
    ] = False,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Append events to this file, as JSON lines."),
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> int:
    """Grade methods against the exact engine, on Spark; for sam, slots for dataflows.

    Runs that already have rows in the folder are skipped, so the same command resumes.
    """
    with exits.defer_interrupts():
        from slotwise.benchmarks.grade import grade as run_grading
        from slotwise.benchmarks.grading.names import split_methods
        from slotwise.benchmarks.grading.store import local_folder
        from slotwise.benchmarks.judged.plain_table import plain_records
        from slotwise.benchmarks.judged.reading import read_judged
        from slotwise.benchmarks.judged.summary import summarise

    settings = _settings(conf or ())
    names = ("master", "archive", "log", "out", "parts", "balance", "assume")
    named = {name: f"--{name}" for name in names}
    try:
        with options.as_options(**named):
            summary = run_grading(
                sources or [],
                methods=split_methods(methods),
                engine=engine,
                time_limit_s=time_limit,
                memory_limit_mb=memory_limit,
                deterministic=deterministic,
                crosscheck=crosscheck,
                predict=predict,
                assume=assume,
                master=master,
                conf=settings,
                archive=archive,
                out=out,
                seed=seed,
                seeds=seeds,
                count=count,
                parts=parts or (),
                balance=balance,
                retry_failed=retry_failed,
                progress=not quiet,
                log=log,
            )
            judged = read_judged(out, master=None if local_folder(out) is not None else master)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    graded = summarise(judged, out)
    if as_json:
        print_json({**summary.to_document(), "table": plain_records(graded.methods)})
    else:
        from slotwise.cli.render.graded import method_lines
        from slotwise.cli.render.results import show_grading
        from slotwise.cli.render.tables import show

        show(*method_lines(graded), whole=True)
        show_grading(summary)
    return Exit.DONE


def _settings(written: Sequence[str]) -> dict[str, str]:
    """Return the settings in texts ``KEY=VALUE``."""
    settings: dict[str, str] = {}
    for text in written:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals):
            rule = "must be KEY=VALUE, such as spark.task.cpus=4"
            raise InputError(rule, field="--conf", value=text)
        settings[key] = value
    return settings
