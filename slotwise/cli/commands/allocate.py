"""The command ``allocate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from slotwise.cli.allocated import Allocated
    from slotwise.solver.allocation.answer import Answer


def allocate(
    dag: Annotated[
        str,
        typer.Argument(
            metavar="DAG",
            help="Dataflow file (JSON or YAML; - for stdin), or linear, diamond, star.",
        ),
    ],
    rate: Annotated[
        list[str],
        typer.Option(
            metavar="R", help="Rate of the sources, tuples/s; repeatable; also FROM:TO:STEP."
        ),
    ],
    models: options.Models = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="optimal (the default: fewest slots, then lowest price, then fewest VMs), or "
            "a published pair: lsa+dsm, lsa+rsm, mba+dsm, mba+rsm, mba+sam.",
        ),
    ] = "optimal",
    vms: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Sizes of VMs to be had; default: D1 to D4 of the SAM article."
        ),
    ] = None,
    shuffle: Annotated[
        bool,
        typer.Option(
            "--shuffle",
            help="Tuples are routed by Storm's shuffle grouping; else optimal and mba+sam have "
            "each bundle receive the rate that they plan for it.",
        ),
    ] = False,
    time_limit: options.TimeLimit = 60.0,
    plot: options.Plot = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write what --json prints to this file."),
    ] = None,
    out_instance: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write threads and VMs as an instance for solve and place."
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Find threads, slots and VMs with which a dataflow supports a rate.

    Each plan is checked slot by slot. --plot draws slots against rates for all pairs and the
    optimum. The time limit is that of each method's search, and again of the optimum that gives
    the bound beside a pair. Ctrl-C ends the search; what was found by then is the answer.
    """
    with exits.held():
        from slotwise.cli import allocated as running
        from slotwise.solver.allocation.answer import Question
        from slotwise.solver.allocation.run import METHODS, Setting
        from slotwise.solver.core.ctrl_c import counted_presses

    options.known(method, list(METHODS), "--method")
    rates = running.rates_of(rate)
    inputs.check_target(out)
    inputs.check_target(plot, "--plot")
    inputs.check_target(out_instance, "--out-instance")
    if out_instance is not None and len(rates) > 1:
        raise InputError("takes one --rate", field="--out-instance", value=str(out_instance))
    if plot is not None:
        from slotwise.cli.render.curves import check_svg

        check_svg(plot)
    question = Question(running.find_dataflow(dag), inputs.load_models(models), rates[0])
    setting = Setting(inputs.load_vm_sizes(vms), time_limit, shuffle=shuffle)
    with counted_presses() as presses:  # Ctrl-C ends searches and takes nothing away
        done = running.allocated(question, rates, method, setting, presses.token)
        if plot is not None:
            from slotwise.cli.render.allocations import plot_methods

            lines = running.every_method(question, rates, setting, done, presses.token)
            plot_methods(plot, lines, question.dataflow.name)
        _save(done, out, out_instance)
        if as_json:
            print_json(done.to_document())
        else:
            from slotwise.cli.render.allocations import show_allocated

            show_allocated(done)
        return Exit.INTERRUPTED if presses.count else done.code


def _save(done: Allocated, out: Path | None, out_instance: Path | None) -> None:
    """Write the files that were asked for; no instance where there is no plan."""
    if out is not None:
        from slotwise.models.formats.atomic_file import write_atomically
        from slotwise.models.formats.json_text import pretty_json

        write_atomically(out, pretty_json(done.to_document()) + "\n")
    if out_instance is not None:
        _save_instance(out_instance, done.answers[0])


def _save_instance(path: Path, answer: Answer) -> None:
    """Write the plan as an instance; without threads nothing, which a line on stderr says."""
    from slotwise.models.allocation.as_instance import as_instance
    from slotwise.models.instance_file import write_instance

    if answer.plan is None or not answer.plan.slots:
        why = "there is no plan" if answer.plan is None else "the plan has no threads"
        exits.complain(f"--out-instance = {str(path)!r}: not written, {why}")
        return
    asked = answer.question
    instance = as_instance(
        answer.plan, asked.dataflow, asked.models, answer.routing, scaling=answer.scaling
    )
    write_instance(path, instance)
