"""The command ``rebalance``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import print_json

if TYPE_CHECKING:
    from slotwise.api.running.rebalanced import Rebalanced
    from slotwise.models.instance.instance import Instance

OPTIMAL = "optimal"
NOW = Annotated[
    str | None,
    typer.Argument(
        metavar="[PLACEMENT]",
        help="Where the tasks run now; default: the instance's `running`; - for stdin.",
    ),
]
OPTIONS = {
    "instance": "INSTANCE",
    "placement": "PLACEMENT",
    "without_nodes": options.WITHOUT_NODE,
}
"""Arguments of `slotwise.rebalance` -> what users type for them."""


@options.decoded_cluster
def rebalance(
    instance: options.Instance,
    placement: NOW = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="optimal, or a method, such as stromax-reassign, stromax-global or r-storm.",
        ),
    ] = OPTIMAL,
    max_moves: Annotated[
        int | None,
        typer.Option(
            callback=options.whole_number("--max-moves", 0, options.MAX_SEED),
            metavar="K",
            help="Move at most K tasks; default: 10 for optimal, any number for a method.",
        ),
    ] = None,
    parking: Annotated[
        int,
        typer.Option(
            callback=options.whole_number("--parking", 0, options.MAX_SEED),
            metavar="N",
            help="Where there is no order without: up to N tasks may wait elsewhere for a while.",
        ),
    ] = 0,
    without_node: options.WithoutNode = None,
    spare: Annotated[
        bool,
        typer.Option(
            "--spare",
            help="Only say of each machine and rack whether all tasks have a place without it.",
        ),
    ] = False,
    time_limit: options.TimeLimit = 60.0,
    workers: options.Workers = 1,
    seed: options.Seed = 0,
    memory_limit: options.MemoryLimit = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PLAN", help="Also write the moves and the placement to this file."),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE.svg", help="Also draw cost against moves."),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Do not say first where tasks that run nowhere can go.")
    ] = False,
    as_json: options.Json = False,
    **decoded: Any,
) -> int:
    """Improve what runs with few moves: which tasks, in which order, and what that saves.

    optimal prints the best cost for each number of moves, with its bound. Tasks that run nowhere,
    as after a machine died, get a place first. Ctrl-C ends the search and keeps what was found.
    """
    if instance == placement == inputs.STDIN:
        raise typer.BadParameter("only one of INSTANCE and PLACEMENT can come from stdin")
    inputs.check_target(out)
    if svg is not None:
        inputs.check_target(svg, "--svg")
    problem = inputs.load_problem(instance, **decoded)
    now = Path(placement) if placement is not None and placement != inputs.STDIN else placement
    gone = options.node_ids(without_node)
    is_shown = not (as_json or spare or quiet)
    is_early = is_shown and now is None and problem.instance.running is not None
    if is_early:
        _show_first(problem.instance, gone, max_moves, search_follows=method == OPTIMAL)
    with exits.held():
        from slotwise.api.running.rebalancing import rebalance as rebalanced
        from slotwise.api.running.sparing import spare as spared
        from slotwise.cli.render import rebalanced as render
        from slotwise.cli.render.curves import check_svg
        from slotwise.cli.render.first_places import show_first
        from slotwise.solver.core.ctrl_c import counted_presses

    on_first = partial(show_first, search_follows=method == OPTIMAL)
    if svg is not None:
        check_svg(svg, "--svg")
    if spare:
        with counted_presses(), exits.noted_warnings(), options.as_options(**OPTIONS):
            found = spared(
                problem,
                now,
                max_moves=max_moves,
                without_nodes=gone,
                time_limit_s=time_limit,
                workers=workers,
                seed=seed,
                memory_limit_mb=memory_limit,
            )
        if as_json:
            print_json(found.to_document())
        else:
            render.show_spare(found)
        return found.exit_code
    with counted_presses(), exits.noted_warnings(), options.as_options(**OPTIONS):
        done = rebalanced(
            problem,
            now,
            method=method,
            max_moves=max_moves,
            parking=parking,
            without_nodes=gone,
            on_first=on_first if is_shown and not is_early else lambda first: None,
            time_limit_s=time_limit,
            workers=workers,
            seed=seed,
            memory_limit_mb=memory_limit,
        )
    _show(done, out, svg, as_json=as_json)
    return done.exit_code


def _show_first(
    given: Instance, gone: tuple[str, ...], max_moves: int | None, *, search_follows: bool
) -> None:
    """Say where orphans go, if there are any, before the engines are loaded."""
    with exits.held():
        from slotwise.api.running.orphans import first_places, orphans_of
        from slotwise.cli.render.first_places import show_first
        from slotwise.models.instance.lost_nodes import without_nodes

    left = without_nodes(given, gone, options.WITHOUT_NODE) if gone else given
    if orphans_of(left):
        show_first(first_places(left, max_moves), search_follows=search_follows)


def _show(done: Rebalanced, out: Path | None, svg: Path | None, *, as_json: bool) -> None:
    from slotwise.cli.render import rebalanced as render

    document = done.plan_document()
    if out is not None and document is not None:
        inputs.save_data(out, document)
    if svg is not None:
        render.draw(svg, done)
    if as_json:
        print_json(done.to_document())
    else:
        render.show_rebalanced(done)
