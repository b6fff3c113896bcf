"""The commands that list what there is: ``methods``, ``families``, ``schema``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json


def _show_list(rows: list[dict[str, Any]], what: str) -> None:
    from slotwise.cli.render.tables import show, table

    cells = [["-" if value is None else str(value) for value in row.values()] for row in rows]
    show(what.capitalize() + ":", table(cells, list(rows[0]), ("count",)))


@command("slotwise.methods", Purpose.FILES)
def methods(call: Call, *, as_json: options.Json = False) -> int:
    """List the methods and engines."""
    listed = call()
    if as_json:
        print_json({"methods": listed})
    else:
        rows = [
            {
                "name": one["name"],
                "kind": one["kind"],
                "what it is": one["description"] or one["source"],
            }
            for one in listed
        ]
        _show_list(rows, "methods of `place --with` and engines of `solve --engine`")
    return Exit.DONE


@command("slotwise.families", Purpose.FILES)
def families(call: Call, *, as_json: options.Json = False) -> int:
    """List the families of instances."""
    listed = call()
    if as_json:
        print_json({"families": listed})
    else:
        _show_list(listed, "families of instances, for `generate` and `grade`")
    return Exit.DONE


@command(
    "slotwise.schema",
    Purpose.FILES,
    name=Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Name of a schema; default: all.")
    ],
)
def schema(
    call: Call,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="The same: schemas are JSON.")] = False,
) -> int:
    """Print the JSON Schemas of our files."""
    exits.emit(json.dumps(call(), indent=None if as_json else 2, ensure_ascii=False) + "\n")
    return Exit.DONE
