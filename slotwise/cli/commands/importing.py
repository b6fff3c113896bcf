"""The command ``import``: an instance from a running Storm, or from its operators' files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json

if TYPE_CHECKING:
    from slotwise.api.importing import ImportedCluster

Timeout = Annotated[
    float,
    typer.Option(
        "--timeout",
        callback=options.check_time_limit,
        metavar="SECONDS",
        help="Longest wait for an answer of Nimbus.",
    ),
]


@command(
    "slotwise.import_storm",
    Purpose.CLUSTER,
    sources=Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="nimbus://HOST:PORT, a Flux file, a storm.yaml (HOST,HOST=FILE where it does not "
            "name its host), a file of user pools.",
        ),
    ],
    racks=Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Racks, as YAML or JSON: {HOST: RACK, ...}."),
    ],
    properties=Annotated[
        list[str] | None,
        typer.Option(
            "--property", metavar="NAME=VALUE", help="Value of ${NAME} in Flux files; repeatable."
        ),
    ],
    timeout_s=Timeout,
)
def import_storm(
    call: Call,
    *,
    out: Annotated[
        Path,
        typer.Option(metavar="INSTANCE", callback=options.target, help="Instance file to write."),
    ],
    as_json: options.Json = False,
) -> int:
    """Read an instance from a running Storm, or from the files that describe one.

    Its `running` says what runs where; import again at any time, and names stay the same.
    """
    with exits.defer_interrupts():
        from slotwise.models.instance_file import write_instance

    sources: list[str] = call.arguments["sources"]
    options.check_not_read(out, "--out", (source.rpartition("=")[2] for source in sources))
    imported: ImportedCluster = call()
    write_instance(out, imported.instance)
    if as_json:
        print_json({"file": str(out)} | imported.to_dict())
    else:
        lines = [f"{out}: {imported.instance!r}", *imported.read]
        lines += [f"assumed: {line}" for line in imported.assumed]
        lines += [f"ignored: {line}" for line in imported.ignored]
        exits.emit("".join(f"{line}\n" for line in lines))
    return Exit.DONE
