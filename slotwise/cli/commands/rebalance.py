"""The command ``rebalance``."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import print_json
from slotwise.models.cancellation import CancellationToken
from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from slotwise.api.rebalancing import Rebalanced
    from slotwise.models.instance.instance import Instance

OPTIMAL = "optimal"
NOT_OF_SPARE = "cannot be used with --spare"


@command(
    "slotwise.rebalance",
    Purpose.CLUSTER,
    placement=Annotated[
        str | None,
        typer.Argument(
            callback=options.file,
            metavar="[PLACEMENT]",
            help="Where the tasks run now; default: the instance's `running`; - for stdin.",
        ),
    ],
    method=Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="optimal, or a method, such as stromax-reassign, stromax-global or r-storm.",
        ),
    ],
    max_moves=Annotated[
        int | None,
        typer.Option(
            callback=options.whole_number("--max-moves", 0, options.MAX_SEED),
            metavar="K",
            help="Move at most K tasks; default: 10 for optimal, any number for a method.",
        ),
    ],
    parking=Annotated[
        int,
        typer.Option(
            callback=options.whole_number("--parking", 0, options.MAX_SEED),
            metavar="N",
            help="Where there is no order without: up to N tasks may wait elsewhere for a while.",
        ),
    ],
    on_first=None,
)
def rebalance(
    call: Call,
    *,
    placement: str | Path | None,
    method: str,
    max_moves: int | None,
    without_nodes: tuple[str, ...],
    time_limit_s: float,
    spare: Annotated[
        bool,
        typer.Option(
            "--spare",
            help="Only say of each machine and rack whether all tasks have a place without it.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PLAN",
            callback=options.target,
            help="Also write the moves and the placement to this file.",
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.svg", callback=options.target, help="Also draw cost against moves."
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Do not say first where tasks that run nowhere can go.")
    ] = False,
    as_json: options.Json = False,
) -> int:
    """Improve what runs with few moves: which tasks, in which order, and what that saves.

    optimal prints the best cost for each number of moves, with its bound. Tasks that run nowhere,
    as after a machine died, get a place first. Ctrl-C ends the search and keeps what was found.
    """
    if spare:
        call.refuse(NOT_OF_SPARE, "method", "parking")
        for option, path in (("--out", out), ("--svg", svg)):
            if path is not None:
                raise InputError(NOT_OF_SPARE, field=option, value=str(path))
    instance = call.problem().instance
    is_shown = not (as_json or spare or quiet)
    is_early = is_shown and placement is None and instance.running is not None
    if is_early:
        _show_first(
            instance, without_nodes, max_moves, time_limit_s, search_follows=method == OPTIMAL
        )
    with exits.defer_interrupts():
        from slotwise.api.sparing import spare as spared
        from slotwise.cli.render import rebalanced as render
        from slotwise.cli.render.curves import check_svg
        from slotwise.cli.render.tables import show_first
        from slotwise.solver.core.supervision import counted_presses

    if svg is not None:
        check_svg(svg, "--svg")
    if spare:
        call.take("method", "parking")
        with counted_presses():
            losses = spared(**call.arguments)
        if as_json:
            print_json(losses.to_document())
        else:
            render.show_spare(losses)
        return losses.exit_code
    if is_shown and not is_early:
        call.arguments["on_first"] = partial(show_first, search_follows=method == OPTIMAL)
    with counted_presses():
        done: Rebalanced = call()
    _show(done, out, svg, as_json=as_json)
    return done.exit_code


def _show_first(
    given: Instance,
    gone: tuple[str, ...],
    max_moves: int | None,
    time_limit_s: float,
    *,
    search_follows: bool,
) -> None:
    """Say where orphans go, if there are any, before the engines are loaded."""
    with exits.defer_interrupts():
        from slotwise.api.orphans import first_places, orphans_of
        from slotwise.cli.render.tables import show_first
        from slotwise.models.instance.lost_nodes import without_nodes

    left = without_nodes(given, gone) if gone else given
    if orphans_of(left):
        token = CancellationToken(time.perf_counter() + time_limit_s)
        show_first(first_places(left, max_moves, token), search_follows=search_follows)


def _show(done: Rebalanced, out: Path | None, svg: Path | None, *, as_json: bool) -> None:
    from slotwise.cli.render import rebalanced as render
    from slotwise.models.formats.text import write_data

    document = done.plan_document()
    if out is not None and document is not None:
        write_data(out, document)
    if svg is not None:
        render.draw(svg, done)
    if as_json:
        print_json(done.to_document())
    else:
        render.show_rebalanced(done)
