"""The commands on one instance, and the lists of what there is."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from slotwise import exits, inputs, options
from slotwise.exits import Exit, print_json


def solve(
    instance: options.Instance,
    engine: options.Engine = "auto",
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
    hint: options.Hint = None,
    max_moved: options.MaxMoved = None,
    out: options.Out = None,
    confirm: options.Confirm = None,
    crosscheck: options.CrossCheck = False,
    certificate: options.Certificate = None,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    submitters: options.Submitters = False,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> int:
    """Find a best placement and prove it, or bound it.

    Progress goes to stderr. Ctrl-C ends the search; what was found by then is the answer.
    """
    with exits.held():
        from slotwise import running, verifying
        from slotwise.solver.engines import ENGINES
        from slotwise.solver.stopping import counted_presses

    options.known(engine, ["auto", *ENGINES], "--engine")
    inputs.check_target(out)
    inputs.check_target(certificate, "--certificate")
    problem = inputs.load_instance(instance, topology, worker_min_cpu, submitters)
    ask = running.Ask(engine, time_limit, workers, seed, memory_limit, confirm)
    with counted_presses():  # from the first placement on, Ctrl-C takes nothing away
        solved = running.solved(problem, ask, hint, max_moved, quiet=quiet)
        if out is not None and solved.result.placement is not None:
            inputs.save_placement(out, problem, solved.result.placement)
        check = verifying.crosschecked(solved.problem, solved.result) if crosscheck else None
        if certificate is not None:
            verifying.save_certificate(certificate, solved.problem, solved.result, check)
        if as_json:
            checked = {} if check is None else {"crosscheck": check.to_document()}
            print_json(solved.to_document() | checked)
        else:
            from slotwise.show import show_result

            show_result(solved.result, solved.verdict)
            if check is not None:
                exits.emit(f"Cross-check: {check.agreement}: {check.reason}.\n")
    return solved.code


def place(
    instance: options.Instance,
    method: Annotated[
        str, typer.Option("--with", metavar="METHOD", help="One of: slotwise methods.")
    ],
    seed: options.Seed = 0,
    out: options.Out = None,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    submitters: options.Submitters = False,
    as_json: options.Json = False,
) -> int:
    """Place with a published method.

    A placement that breaks a hard rule is a failure.
    """
    with exits.held():
        from slotwise import running
        from slotwise.heuristics.registry import find_method

    chosen = find_method(method)
    inputs.check_target(out)
    problem = inputs.load_instance(instance, topology, worker_min_cpu, submitters)
    placed = running.placed(problem, chosen, seed)
    if out is not None and placed.placement is not None and placed.code == Exit.DONE:
        inputs.save_placement(out, problem, placed.placement)
    if as_json:
        print_json(placed.to_document())
    else:
        from slotwise.show import show_placed

        show_placed(placed)
    return placed.code


def judge(
    instance: options.Instance,
    plan: options.Plan,
    topology: options.Topology = None,
    worker_min_cpu: options.WorkerMinCpu = None,
    submitters: options.Submitters = False,
    as_json: options.Json = False,
) -> int:
    """Check a placement and compute what it costs."""
    from slotwise.models import judge as judging

    if instance == plan == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and PLAN can come from stdin")
    problem = inputs.load_instance(instance, topology, worker_min_cpu, submitters)
    placement = inputs.load_placement(plan, problem)
    verdict = judging.judge(problem, placement)
    if as_json:
        print_json(inputs.hashed(problem) | verdict.to_document())
    else:
        from slotwise.show import show_verdict

        show_verdict(verdict, placement)
    return Exit.DONE if verdict.valid else Exit.FAILED


def generate(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="One of: slotwise families.")],
    out: options.OutDir,
    count: options.Count = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> int:
    """Write instance files of a family.

    A file with other content is never overwritten.
    """
    from slotwise.models.families import FAMILIES

    options.known(family, list(FAMILIES), "FAMILY")
    written = inputs.generate(FAMILIES[family], count, seed, out)
    if as_json:
        print_json({"family": family, "seed": seed, "files": [str(path) for path in written]})
    else:
        exits.emit("".join(f"{path}\n" for path in written))
    return Exit.DONE


def _show_list(rows: list[dict[str, Any]], what: str) -> None:
    from slotwise.show import show, table

    cells = [["-" if value is None else str(value) for value in row.values()] for row in rows]
    show(what.capitalize() + ":", table(cells, list(rows[0]), ("count",)))


def methods(as_json: options.Json = False) -> int:
    """List the methods and engines there are."""
    from slotwise import listing

    found = listing.methods()
    if as_json:
        print_json({"methods": found})
    else:
        rows = [
            {
                "name": one["name"],
                "kind": one["kind"],
                "what it is": one["description"] or one["source"],
            }
            for one in found
        ]
        _show_list(rows, "methods of `place --with` and engines of `solve --engine`")
    return Exit.DONE


def families(as_json: options.Json = False) -> int:
    """List the families of instances there are."""
    from slotwise import listing

    found = listing.families()
    if as_json:
        print_json({"families": found})
    else:
        _show_list(found, "families of instances, for `generate` and `grade`")
    return Exit.DONE


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One of the schemas; default: all.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same: schemas are JSON.")] = False,
) -> int:
    """Print the JSON Schemas of our files."""
    from slotwise.models.schemas import json_schemas

    schemas = json_schemas()
    chosen: Any = schemas
    if name is not None:
        chosen = schemas[options.known(name, list(schemas), "NAME")]
    exits.emit(json.dumps(chosen, indent=None if as_json else 2, ensure_ascii=False) + "\n")
    return Exit.DONE
