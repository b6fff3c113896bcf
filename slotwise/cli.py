"""The command line. Everything heavy is imported inside the command that needs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from slotwise import __version__, exits, inputs, options
from slotwise.exits import Exit

app = typer.Typer(
    name="slotwise",
    help="Place the tasks of stream processors on machines: exactly, or by published heuristics.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line and leave with its exit code."""
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        exits.silence_stdout()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""

    def call(words: Sequence[str]) -> object:
        return app(args=list(words), prog_name="slotwise", standalone_mode=False)

    return int(exits.run(call, arguments))


def _print_version(wanted: bool) -> None:
    if wanted:
        exits.emit(f"slotwise {__version__}\n")
        raise typer.Exit


def _print_json(document: Any) -> None:
    exits.emit(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print and exit."),
    ] = False,
) -> None:
    """Place the tasks of stream processors on machines: exactly, or by published heuristics."""


@app.command()
def solve(
    instance: options.Instance,
    engine: options.Engine = "auto",
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    hint: options.Hint = None,
    out: options.Out = None,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    as_json: options.Json = False,
) -> int:
    """Find the best placement and prove it, or say how far from the best it may be."""
    from slotwise import running
    from slotwise.solver import ENGINES

    options.known(engine, ["auto", *ENGINES], "--engine")
    inputs.check_target(out)
    problem = inputs.load_instance(instance, topology, worker_min_cpu)
    ask = running.Ask(engine, time_limit, workers, seed)
    solved = running.solved(problem, ask, hint)
    if out is not None and solved.result.placement is not None:
        inputs.save_placement(out, problem, solved.result.placement)
    if as_json:
        _print_json(solved.to_document())
    else:
        from slotwise.show import show_result

        show_result(solved.result, solved.verdict)
    return solved.code


@app.command()
def place(
    instance: options.Instance,
    method: Annotated[
        str, typer.Option("--with", metavar="METHOD", help="One of: slotwise methods.")
    ],
    seed: options.Seed = 0,
    out: options.Out = None,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    as_json: options.Json = False,
) -> int:
    """Place with a published method; a placement that breaks a hard rule is a failure."""
    from slotwise import running
    from slotwise.heuristics.registry import find_method

    chosen = find_method(method)
    inputs.check_target(out)
    problem = inputs.load_instance(instance, topology, worker_min_cpu)
    placed = running.placed(problem, chosen, seed)
    if out is not None and placed.placement is not None and placed.code == Exit.DONE:
        inputs.save_placement(out, problem, placed.placement)
    if as_json:
        _print_json(placed.to_document())
    else:
        from slotwise.show import show_placed

        show_placed(placed)
    return placed.code


@app.command()
def judge(
    instance: options.Instance,
    plan: options.Plan,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    as_json: options.Json = False,
) -> int:
    """Check a placement against every rule and compute what it costs."""
    from slotwise.models import judge as judging

    if instance == plan == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and PLAN can come from stdin")
    problem = inputs.load_instance(instance, topology, worker_min_cpu)
    placement = inputs.load_placement(plan, problem)
    verdict = judging.judge(problem, placement)
    if as_json:
        _print_json(inputs.hashed(problem) | verdict.to_document())
    else:
        from slotwise.show import show_verdict

        show_verdict(verdict, placement)
    return Exit.DONE if verdict.valid else Exit.FAILED


@app.command()
def generate(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="One of: slotwise families.")],
    out: options.OutDir,
    count: Annotated[
        int | None, typer.Option(min=1, help="Number of instances; default: the family's own.")
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> int:
    """Write instance files of a family; a file with other content is never overwritten."""
    from slotwise.models.families import FAMILIES

    options.known(family, list(FAMILIES), "FAMILY")
    written = inputs.generate(FAMILIES[family], count, seed, out)
    if as_json:
        _print_json({"family": family, "seed": seed, "files": [str(path) for path in written]})
    else:
        exits.emit("".join(f"{path}\n" for path in written))
    return Exit.DONE


def _show_list(rows: list[dict[str, Any]], what: str) -> None:
    from slotwise.show import show, table

    cells = [[str(value) for value in row.values()] for row in rows]
    show(what.capitalize() + ":", table(cells, list(rows[0]), ("count",)))


@app.command()
def methods(as_json: options.Json = False) -> int:
    """List the methods and engines there are."""
    from slotwise import listing

    found = listing.methods()
    if as_json:
        _print_json({"methods": found})
    else:
        _show_list(found, "methods of `place --with` and engines of `solve --engine`")
    return Exit.DONE


@app.command()
def families(as_json: options.Json = False) -> int:
    """List the families of instances there are."""
    from slotwise import listing

    found = listing.families()
    if as_json:
        _print_json({"families": found})
    else:
        _show_list(found, "families of instances, for `generate` and `grade`")
    return Exit.DONE


@app.command()
def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One of the schemas; default: all.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same: schemas are JSON.")] = False,
) -> int:
    """Print the JSON Schemas of instance and placement files."""
    from slotwise.models.instance_schema import json_schemas

    schemas = json_schemas()
    chosen: Any = schemas
    if name is not None:
        chosen = schemas[options.known(name, list(schemas), "NAME")]
    exits.emit(json.dumps(chosen, indent=None if as_json else 2, ensure_ascii=False) + "\n")
    return Exit.DONE


@app.command()
def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `slotwise grade --out DIR` wrote.")
    ],
    as_json: options.Json = False,
) -> int:
    """Make one self-contained HTML page from the rows of a grading."""
    from slotwise.benchmarks.report import write_report

    page = write_report(folder)
    if as_json:
        _print_json({"report": str(page)})
    else:
        exits.emit(f"{page}\n")
    return Exit.DONE
