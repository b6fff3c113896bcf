"""The commands on many instances: ``grade``, ``summary`` and ``report``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError


def grade(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FAMILY|PATH",
            help="Families, files of instances or allocation cases, or folders of such files; "
            "default: all families that are not held out.",
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
    count: options.Count = None,
    seed: options.Seed = 0,
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
            help="Run those again, too, that ended as error, crashed, timeout or out-of-memory.",
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
    with exits.held():
        from slotwise.benchmarks.aggregation.plain_table import plain_records
        from slotwise.benchmarks.aggregation.summary import summarise_methods
        from slotwise.benchmarks.grade import grade as run_grading
        from slotwise.benchmarks.grade import split_methods
        from slotwise.benchmarks.spark.masters import Cluster

    settings = _settings(conf or ())
    named = {"master": "--master", "archive": "--archive", "log": "--log"}
    try:
        with options.as_options(**named):
            summary = run_grading(
                sources or [],
                methods=split_methods(methods),
                engine=engine,
                time_limit_s=time_limit,
                memory_limit_mb=memory_limit,
                master=master,
                conf=settings,
                archive=archive,
                out=out,
                seed=seed,
                count=count,
                retry_failed=retry_failed,
                progress=not quiet,
                log=log,
            )
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    graded = summarise_methods(out, Cluster(master, archive, settings))
    if as_json:
        print_json({**summary.to_document(), "table": plain_records(graded.methods)})
    else:
        from slotwise.cli.render.graded import method_lines
        from slotwise.cli.render.results import show_grading
        from slotwise.cli.render.tables import show

        show(*method_lines(graded))
        show_grading(summary)
    return Exit.DONE


def _settings(written: Sequence[str]) -> dict[str, str]:
    """Return the settings in texts ``KEY=VALUE``."""
    for text in written:
        if not text.partition("=")[0].strip() or "=" not in text:
            rule = "must be KEY=VALUE, such as spark.task.cpus=4"
            raise InputError(rule, field="--conf", value=text)
    pairs = (text.partition("=") for text in written)
    return {key.strip(): value.strip() for key, _, value in pairs}


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder written by `slotwise grade --out DIR`.")
    ],
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR2]", help="A second one: compare the two, DIR before and DIR2 after."
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=METHOD",
            help="What the page calls a method, such as 'mine=cmd:./x'. Repeatable.",
        ),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write every chart as SVG and PDF and every table as CSV and LaTeX there.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Make an HTML page of a grading, or compare two gradings: better, worse, newly failing."""
    if other is not None:
        return _compare(folder, other, methods, figures, as_json)
    from slotwise.api.grading import report as make_report

    with options.as_options(figures="--figures"):
        page = make_report(folder, methods=methods, figures=figures)
    if as_json:
        print_json({"report": str(page)})
    else:
        exits.emit(f"{page}\n")
    return Exit.DONE


def _compare(
    before: Path, after: Path, methods: list[str] | None, figures: Path | None, as_json: bool
) -> int:
    from slotwise.api.grading import compare
    from slotwise.cli.render.compared import show_comparison

    if figures is not None:
        raise InputError("is for one grading, not two", field="--figures", value=str(figures))
    found = compare(before, after, methods=methods)
    page = found.write_page()
    if as_json:
        print_json({**found.to_document(), "report": str(page)})
    else:
        show_comparison(found, page)
    return Exit.DONE


def summary(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder written by `slotwise grade --out DIR`.")
    ],
    by: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Keep classes of instances apart: family, size, tightness."
        ),
    ] = "",
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the methods as CSV.")] = False,
    as_json: options.Json = False,
    as_latex: Annotated[
        bool, typer.Option("--latex", help="Print the methods as a LaTeX table (booktabs).")
    ] = False,
    master: Annotated[
        str, typer.Option(metavar="URL", help="Spark master, for example spark://host:7077.")
    ] = "local[*]",
    seed: options.Seed = 0,
) -> int:
    """Sum a grading up: solved, gap to the optimum, wins and seconds of each method."""
    chosen = [name for name, is_on in _formats(as_csv, as_json, as_latex) if is_on]
    if len(chosen) > 1:
        raise InputError(f"cannot be given together: {' and '.join(chosen)}", has_value=False)
    with exits.held():
        from slotwise.api.grading import summary as summarise
        from slotwise.benchmarks.aggregation.plain_table import csv_text
        from slotwise.cli.render.graded import latex_summary, show_summary

    with options.as_options(by="--by", master="--master", folder="DIR"):
        found = summarise(folder, by=by, master=master, seed=seed, progress=True)
    if as_json:
        print_json(found.to_document())
    elif as_csv:
        exits.emit(csv_text(found.methods))
    elif as_latex:
        exits.emit(latex_summary(found))
    else:
        show_summary(found)
    return Exit.DONE


def _formats(as_csv: bool, as_json: bool, as_latex: bool) -> tuple[tuple[str, bool], ...]:
    return ("--csv", as_csv), ("--json", as_json), ("--latex", as_latex)
