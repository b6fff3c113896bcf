"""The command ``allocate``."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from slotwise.api.allocating import Allocated

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
            help="Rate of the sources, tuples/s; repeatable; also FROM:TO:STEP. Default: the "
            "highest rate, for --slots or for all VMs if --vms says how many there are.",
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
            metavar="FILE", help="Available VM sizes; default: D1 to D4 of the SAM article."
        ),
    ] = None,
    shuffle: Annotated[
        bool,
        typer.Option(
            "--shuffle",
            help="Route tuples by Storm's shuffle grouping; by default, with optimal and mba+sam, "
            "each bundle receives the rate planned for it.",
        ),
    ] = False,
    exclusive: Annotated[
        bool,
        typer.Option(
            "--exclusive",
            help="optimal: full bundles have a whole slot; only measured thread counts.",
        ),
    ] = False,
    unscaled: Annotated[
        bool,
        typer.Option(
            "--unscaled",
            help="optimal: bundles take the CPU and memory of their peak rate at every rate.",
        ),
    ] = False,
    time_limit: options.TimeLimit = 60.0,
    plot: options.Plot = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the output of --json to this file."),
    ] = None,
    out_instance: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write threads and VMs as an instance, for solve and place."
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Find the threads, slots and VMs that a dataflow needs for a rate.

    Each plan is checked slot by slot. --plot draws slots against rates for all pairs and the
    optimum. The time limit applies to each method's search, and separately to the optimum that
    gives the bound for a pair. Ctrl-C ends the search and keeps what was found.
    """
    with exits.held():
        from slotwise.api import allocating
        from slotwise.api.allocation_inputs import as_rates
        from slotwise.solver.allocation.run import METHODS
        from slotwise.solver.core.ctrl_c import counted_presses

    options.known(method, list(METHODS), "--method")
    rates = as_rates(rate, "--rate")
    _check_together(plot, bool(rates), exclusive or unscaled)
    _check_targets(out, plot, out_instance, len(rates))
    with counted_presses() as presses:  # Ctrl-C ends searches and takes nothing away
        with _named():
            done = allocating.allocate(
                dag,
                rates or None,
                slots=slots,
                models=models,
                method=method,
                vms=vms,
                shuffle=shuffle,
                exclusive=exclusive,
                unscaled=unscaled,
                time_limit_s=time_limit,
            )
        if plot is not None:
            from slotwise.cli.render.allocations import plot_methods

            plot_methods(plot, allocating.every_method(done), done.dataflow.name)
        _save(done, out, out_instance)
        if as_json:
            print_json(done.to_document())
        else:
            from slotwise.cli.render.allocations import show_allocated

            show_allocated(done)
        return Exit.INTERRUPTED if presses.count else done.exit_code


def _named() -> AbstractContextManager[None]:
    """Have errors name options: ``--rate`` where Python has the argument `rate`."""
    names = ("rate", "slots", "vms", "method", "exclusive", "unscaled")
    return options.as_options(**{name: f"--{name}" for name in names})


def _check_together(plot: Path | None, has_rate: bool, has_variant: bool) -> None:
    """Refuse options that do not go with --plot."""
    if plot is not None and not has_rate:
        raise InputError("needs --rate", field="--plot", value=str(plot))
    if plot is not None and has_variant:
        rule = "are only for optimal, without --plot: the pairs have their own rules"
        raise InputError(rule, field="--exclusive, --unscaled", has_value=False)


def _check_targets(
    out: Path | None, plot: Path | None, out_instance: Path | None, rates: int
) -> None:
    """Refuse output files that cannot be written, before the work and not after it."""
    inputs.check_target(out)
    inputs.check_target(plot, "--plot")
    inputs.check_target(out_instance, "--out-instance")
    if out_instance is not None and rates > 1:
        raise InputError("takes one --rate", field="--out-instance", value=str(out_instance))
    if plot is not None:
        from slotwise.cli.render.curves import check_svg

        check_svg(plot)


def _save(done: Allocated, out: Path | None, out_instance: Path | None) -> None:
    """Write the files that were asked for; no instance where there is no plan."""
    if out is not None:
        from slotwise.models.formats.atomic_file import write_atomically
        from slotwise.models.formats.json_text import pretty_json

        write_atomically(out, pretty_json(done.to_document()) + "\n")
    if out_instance is not None:
        _save_instance(out_instance, done)


def _save_instance(path: Path, done: Allocated) -> None:
    """Write the plan as an instance; without threads nothing, which a line on stderr says."""
    from slotwise.models.instance_file import write_instance

    instance = done.to_instance()
    if instance is None:
        why = "there is no plan" if done.answers[0].plan is None else "the plan has no threads"
        exits.complain(f"--out-instance = {str(path)!r}: not written, {why}")
    else:
        write_instance(path, instance)
