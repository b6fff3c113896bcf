"""The commands ``storm``: plans applied to a running Storm, checked, and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.commands.importing import Timeout
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.api.storm_plans import StormState

Snapshot = Annotated[
    Path,
    typer.Argument(metavar="SNAPSHOT", help="The instance that `slotwise import` wrote."),
]
PlacementFile = Annotated[
    Path,
    typer.Argument(
        metavar="PLAN", help="Placement file, of solve, place or rebalance --out, or their JSON."
    ),
]
Address = Annotated[
    str, typer.Option("--nimbus", metavar="ADDRESS", help="nimbus://HOST:PORT of the cluster.")
]
Plans = Annotated[
    Path,
    typer.Option(metavar="DIR", help="The folder that Nimbus's setting slotwise.plans names."),
]
Execute = Annotated[
    bool, typer.Option("--execute", help="Change the cluster; without it, only check.")
]
MaxAge = Annotated[
    float,
    typer.Option(
        "--max-age",
        callback=options.check_time_limit,
        metavar="SECONDS",
        help="How long Storm follows the plan.",
    ),
]

APPLIED: dict[str, Any] = {
    "nimbus": Address,
    "plans": Plans,
    "execute": Execute,
    "max_age_s": MaxAge,
    "timeout_s": Timeout,
    "on_topology": None,
}
"""Of ``apply`` and ``rollback``."""


@command(
    "slotwise.apply_plan",
    Purpose.CLUSTER,
    snapshot=Snapshot,
    placement=PlacementFile,
    **APPLIED,
)
def storm_apply(call: Call, *, as_json: options.Json = False) -> int:
    """Ask a running Storm to place its topologies as planned; only checks without --execute.

    Needs the jar slotwise-storm in Nimbus.
    """
    return _applied(call, as_json)


@command(
    "slotwise.rebalance_commands",
    Purpose.CLUSTER,
    snapshot=Snapshot,
    placement=PlacementFile,
)
def storm_commands(call: Call, *, as_json: options.Json = False) -> int:
    """Print commands of Storm that come near a plan without the jar.

    They set the snapshot's demands and the plan's nodes as favoured ones. They choose no workers,
    and Storm may place a task on another node.
    """
    commands: list[str] = call()
    if as_json:
        print_json({"commands": commands})
    else:
        exits.emit("".join(f"{line}\n" for line in commands))
    return Exit.DONE


@command(
    "slotwise.apply_plan",
    Purpose.CLUSTER,
    snapshot=Snapshot,
    placement=None,
    **APPLIED,
)
def storm_rollback(call: Call, *, as_json: options.Json = False) -> int:
    """Ask a running Storm for what ran at the snapshot; only checks without --execute."""
    return _applied(call, as_json, placement=None)


@command(
    "slotwise.storm_status",
    Purpose.CLUSTER,
    snapshot=Snapshot,
    placement=PlacementFile,
    nimbus=Address,
    timeout_s=Timeout,
)
def storm_status(call: Call, *, as_json: options.Json = False) -> int:
    """Say whether what runs in a Storm is what was planned."""
    return _shown(call(), as_json)


def _applied(call: Call, as_json: bool, **changes: object) -> int:
    state: StormState = call(on_topology=lambda name: exits.note(f"rebalancing {name}"), **changes)
    if not state.applied and not as_json:
        verb = "rolls back" if "placement" in changes else "applies the plan"
        exits.note(f"Nothing was changed; --execute {verb}.")
    if state.applied and not state.is_as_planned:
        exits.note(
            "Not all is as planned: lines of Nimbus's log with `slotwise:` say why (a plan that no "
            "longer fits, slotwise.shadow). "
            "Topologies after the first such one were left as they are."
        )
    return _shown(state, as_json, expected=not state.applied)


def _shown(state: StormState, as_json: bool, *, expected: bool = False) -> int:
    """Show a state; the exit code says whether it is as planned, or was expected not to be."""
    if as_json:
        print_json(state.to_dict())
    else:
        from slotwise.cli.render.tables import show, table

        rows = [
            (one.topology, str(one.tasks), str(one.elsewhere) if one.elsewhere else "-")
            for one in state.topologies
        ]
        verb = "to move" if expected else "elsewhere"
        show(table(rows, ("topology", "tasks", verb), right=("tasks", verb)))
    return Exit.DONE if expected or state.is_as_planned else Exit.FAILED
