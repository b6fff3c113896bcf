"""The command ``allocate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from slotwise.api.allocating import Allocated

MOST_SLOTS = 100_000


@command(
    "slotwise.allocate",
    Purpose.PLACE,
    dag=Annotated[
        str,
        typer.Argument(
            metavar="DAG",
            help="Dataflow file (JSON or YAML; - for stdin), or linear, diamond, star.",
        ),
    ],
    rate=Annotated[
        list[str] | None,
        typer.Option(
            metavar="R",
            help="Rate of the sources, tuples/s; repeatable; also FROM:TO:STEP. Default: the "
            "highest rate, for --slots or for all VMs if --vms says how many there are.",
        ),
    ],
    slots=Annotated[
        int | None,
        typer.Option(
            callback=options.whole_number("--slots", 1, MOST_SLOTS),
            metavar="N",
            help="Find the highest rate, in whole tuples/s, that N slots support.",
        ),
    ],
    method=Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="optimal (the default: fewest slots, then lowest price, then fewest VMs), or "
            "a published pair: lsa+dsm, lsa+rsm, mba+dsm, mba+rsm, mba+sam.",
        ),
    ],
    vms=Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Available VM sizes; default: D1 to D4 of the SAM article."
        ),
    ],
    shuffle=Annotated[
        bool,
        typer.Option(
            "--shuffle",
            help="Route tuples by Storm's shuffle grouping; by default, with optimal and mba+sam, "
            "each bundle receives the rate planned for it.",
        ),
    ],
    exclusive=Annotated[
        bool,
        typer.Option(
            "--exclusive",
            help="optimal: full bundles have a whole slot; only measured thread counts.",
        ),
    ],
    unscaled=Annotated[
        bool,
        typer.Option(
            "--unscaled",
            help="optimal: bundles take the CPU and memory of their peak rate at every rate.",
        ),
    ],
)
def allocate(
    call: Call,
    *,
    rate: list[str] | None,
    method: str,
    exclusive: bool,
    unscaled: bool,
    plot: options.Plot = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=options.target,
            help="Also write the output of --json to this file.",
        ),
    ] = None,
    out_instance: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=options.target,
            help="Also write threads and VMs as an instance, for solve and place.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Find the threads, slots and VMs that a dataflow needs for a rate.

    Each plan is checked slot by slot. --plot draws slots against rates for all pairs and the
    optimum. The time limit applies to each method's search, and separately to the optimum that
    gives the bound for a pair. Ctrl-C ends the search and keeps what was found.
    """
    with exits.defer_interrupts():
        from slotwise.api import allocating
        from slotwise.api.allocation_inputs import as_rates
        from slotwise.solver.allocation import METHODS
        from slotwise.solver.core.supervision import counted_presses

    options.known(method, list(METHODS), "--method")
    _check_together(plot, out_instance, len(as_rates(rate)), exclusive or unscaled)
    with counted_presses() as presses:  # Ctrl-C ends searches and takes nothing away
        done: Allocated = call()
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


def _check_together(
    plot: Path | None, out_instance: Path | None, rates: int, has_variant: bool
) -> None:
    """Refuse options that do not go together."""
    if out_instance is not None and rates > 1:
        raise InputError("takes one --rate", field="--out-instance", value=str(out_instance))
    if plot is None:
        return
    if not rates:
        raise InputError("needs --rate", field="--plot", value=str(plot))
    if has_variant:
        rule = "are only for optimal, without --plot: the pairs have their own rules"
        raise InputError(rule, field="--exclusive, --unscaled", has_value=False)
    from slotwise.cli.render.curves import check_svg

    check_svg(plot)


def _save(done: Allocated, out: Path | None, out_instance: Path | None) -> None:
    """Write the files that were asked for; no instance where there is no plan."""
    if out is not None:
        from slotwise.models.formats.file_bytes import write_atomically
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
