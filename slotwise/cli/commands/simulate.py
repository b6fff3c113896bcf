"""The command ``simulate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.models.simulation.simulation import Simulation


@command(
    "slotwise.simulate",
    Purpose.PLACE,
    placement=options.Plan,
    seconds=Annotated[float, typer.Option(help="Simulated time that is measured.")],
    warm_up=Annotated[
        float, typer.Option(help="Simulated time before that, in which queues fill up.")
    ],
    assume=options.Assume,
    running=Annotated[
        bool, typer.Option("--running", help="Simulate what the instance says is running.")
    ],
)
def simulate(call: Call, *, as_json: options.Json = False) -> int:
    """Try out the throughput and latency of a placement, by discrete events."""
    simulation: Simulation = call()
    if as_json:
        from slotwise.models.instance_file import instance_hash

        print_json({"instance": instance_hash(simulation.given)} | simulation.to_document())
    else:
        from slotwise.cli.render.simulated import show_simulation

        show_simulation(simulation)
    return Exit.DONE if simulation.is_sustainable else Exit.FAILED
