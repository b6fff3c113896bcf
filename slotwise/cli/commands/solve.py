"""The command ``solve``."""

from __future__ import annotations

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import print_json


def solve(
    instance: options.Instance,
    engine: options.Engine = "auto",
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
    hint: options.Hint = None,
    max_moved: options.MaxMoved = None,
    parameters: options.Set = None,
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
        from slotwise.cli import answers as running
        from slotwise.cli.commands import verify as verifying
        from slotwise.solver.core.ctrl_c import counted_presses
        from slotwise.solver.engines import ENGINES
        from slotwise.solver.portfolio.given_parameters import parsed_parameters

    options.known(engine, ["auto", *ENGINES], "--engine")
    inputs.check_target(out)
    inputs.check_target(certificate, "--certificate")
    given = inputs.load_instance(instance, topology, worker_min_cpu, submitters)
    problem = inputs.compiled(inputs.with_move_limit(given, max_moved), instance)
    chosen = parsed_parameters(parameters or ())
    ask = running.Ask(engine, time_limit, workers, seed, memory_limit, confirm, chosen)
    with counted_presses():  # from the first placement on, Ctrl-C takes nothing away
        solved = running.solved(problem, given, ask, hint, quiet=quiet)
        if out is not None and solved.result.placement is not None:
            inputs.save_placement(out, given, solved.result.placement)
        check = verifying.crosschecked(solved.problem, solved.result) if crosscheck else None
        if certificate is not None:
            verifying.save_certificate(certificate, solved.problem, solved.result, check)
        if as_json:
            checked = {} if check is None else {"crosscheck": check.to_document()}
            print_json(solved.to_document() | checked)
        else:
            from slotwise.cli.render.results import show_result

            show_result(solved.result)
            if check is not None:
                exits.emit(f"Cross-check: {check.agreement}: {check.reason}.\n")
    return solved.code
