"""The command ``solve``."""

from __future__ import annotations

from typing import Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import print_json


@options.decoded_cluster
def solve(
    instance: options.Instance,
    engine: options.Engine = "auto",
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
    deterministic: options.Deterministic = False,
    hint: options.Hint = None,
    max_moved: options.MaxMoved = None,
    without_node: options.WithoutNode = None,
    parameters: options.Set = None,
    out: options.Out = None,
    confirm: options.Confirm = None,
    crosscheck: options.CrossCheck = False,
    certificate: options.Certificate = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Find the best placement and prove it, or bound it.

    Progress goes to stderr. Ctrl-C ends the search and keeps the best placement and bound.
    """
    with exits.held():
        from slotwise.api import solving
        from slotwise.api.inputs import with_move_limit
        from slotwise.cli.answers import Solved
        from slotwise.cli.commands.verify import save_certificate
        from slotwise.cli.progress import progress
        from slotwise.models.instance.lost_nodes import in_left, in_whole, without_nodes
        from slotwise.solver.core.ctrl_c import counted_presses
        from slotwise.solver.engines import ENGINES

    if instance == hint == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and --hint can come from stdin")
    options.known(engine, ["auto", *ENGINES], "--engine")
    inputs.check_target(out)
    inputs.check_target(certificate, "--certificate")
    given = inputs.load_instance(instance, **decoded)
    gone = options.node_ids(without_node)
    left = without_nodes(given, gone, options.WITHOUT_NODE) if gone else given
    problem = inputs.compiled(with_move_limit(left, max_moved, "--max-moved"), instance)
    chosen = solving.as_parameters(parameters)
    with counted_presses():  # from the first placement on, Ctrl-C takes nothing away
        start = None if hint is None else inputs.load_placement(hint, given)
        start = None if start is None else in_left(given, left, start)
        with progress([term.name for term in problem.terms], quiet) as on_progress:
            result = solving.solve(
                problem,
                engine=engine,
                time_limit_s=time_limit,
                workers=workers,
                seed=seed,
                memory_limit_mb=memory_limit,
                deterministic=deterministic,
                hint=start,
                confirm=confirm,
                on_progress=on_progress,
                parameters=chosen,
            )
        solved = Solved(problem, given, result)
        if out is not None and result.placement is not None:
            inputs.save_placement(out, given, in_whole(left, given, result.placement))
        check = solving.crosscheck(problem, result) if crosscheck else None
        if certificate is not None:
            save_certificate(certificate, problem, result, check)
        if as_json:
            checked = {} if check is None else {"crosscheck": check.to_document()}
            print_json(solved.to_document() | checked)
        else:
            from slotwise.cli.render.results import show_result

            show_result(result)
            if check is not None:
                exits.emit(f"Cross-check: {check.agreement}: {check.reason}.\n")
    return solved.code
