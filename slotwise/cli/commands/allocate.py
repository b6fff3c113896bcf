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

OPTIMAL_NAME = "optimal"
MOST_SLOTS = 100_000


def allocate(
    dag: Annotated[
        str,
        typer.Argument(
            metavar="DAG",
            help="Dataflow file (JSON or YAML; - for stdin), or linear, diamond, star.",
        ),
    ],
    rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="R",
            help="Rate of the sources, tuples/s; repeatable; also FROM:TO:STEP. Without it the "
            "highest rate is sought: for --slots, or for all VMs where --vms says how many.",
        ),
    ] = None,
    slots: Annotated[
        int | None,
        typer.Option(
            callback=options.whole_number("--slots", 1, MOST_SLOTS),
            metavar="N",
            help="Find the highest rate, in whole tuples/s, that N slots support.",
        ),
    ] = None,
    models: options.Models = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="optimal (the default: fewest slots, then lowest price, then fewest VMs), or "
            "a published pair: lsa+dsm, lsa+rsm, mba+dsm, mba+rsm, mba+sam.",
        ),
    ] = OPTIMAL_NAME,
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
    exclusive: Annotated[
        bool,
        typer.Option(
            "--exclusive",
            help="optimal: a full bundle has its slot for itself, thread counts are measured ones.",
        ),
    ] = False,
    unscaled: Annotated[
        bool,
        typer.Option(
            "--unscaled",
            help="optimal: bundles take the CPU and memory of their peak rate at any rate.",
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
        from slotwise.models.allocation.vm import offered_slots
        from slotwise.solver.allocation.answer import Question
        from slotwise.solver.allocation.highest import highest_rate
        from slotwise.solver.allocation.run import METHODS, Setting
        from slotwise.solver.core.ctrl_c import counted_presses
        from slotwise.solver.slots.problem import Counts, Variant

    options.known(method, list(METHODS), "--method")
    rates = running.rates_of(rate or [])
    _check_together(method, bool(rates), slots, plot, exclusive or unscaled)
    inputs.check_target(out)
    inputs.check_target(plot, "--plot")
    inputs.check_target(out_instance, "--out-instance")
    if out_instance is not None and len(rates) > 1:
        raise InputError("takes one --rate", field="--out-instance", value=str(out_instance))
    if plot is not None:
        from slotwise.cli.render.curves import check_svg

        check_svg(plot)
    dataflow, known = running.find_dataflow(dag), inputs.load_models(models)
    counts = Counts.MEASURED if exclusive else Counts.ALL
    variant = Variant(counts, exclusive=exclusive, scaled=not unscaled)
    setting = Setting(inputs.load_vm_sizes(vms), time_limit, variant, shuffle)
    if not rates and slots is None and offered_slots(setting.vm_sizes) is None:
        rule = "is missing; or give --slots, or --vms with how many of each size are available"
        raise InputError(rule, field="--rate", has_value=False)
    with counted_presses() as presses:  # Ctrl-C ends searches and takes nothing away
        if rates:
            question = Question(dataflow, known, rates[0])
            done = running.allocated(question, rates, method, setting, presses.token)
        else:
            best = highest_rate(dataflow, known, slots, setting, token=presses.token)
            done = running.Allocated(dataflow, method, [best])
        if plot is not None:
            from slotwise.cli.render.allocations import plot_methods

            lines = running.every_method(question, rates, setting, done, presses.token)
            plot_methods(plot, lines, dataflow.name)
        _save(done, out, out_instance)
        if as_json:
            print_json(done.to_document())
        else:
            from slotwise.cli.render.allocations import show_allocated

            show_allocated(done)
        return Exit.INTERRUPTED if presses.count else done.code


def _check_together(
    method: str, has_rate: bool, slots: int | None, plot: Path | None, has_variant: bool
) -> None:
    """Refuse options that do not go together."""
    if slots is not None and has_rate:
        raise InputError(
            "goes without --rate: it asks for the highest", field="--slots", value=slots
        )
    if plot is not None and not has_rate:
        raise InputError("needs --rate", field="--plot", value=str(plot))
    if method != OPTIMAL_NAME and not has_rate:
        rule = "needs --rate: the highest rate is that of optimal"
        raise InputError(rule, field="--method", value=method)
    if has_variant and (method != OPTIMAL_NAME or plot is not None):
        rule = "are for optimal alone, without --plot: the pairs have rules of their own"
        raise InputError(rule, field="--exclusive, --unscaled", has_value=False)


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
