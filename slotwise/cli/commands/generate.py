"""The command ``generate``."""

from __future__ import annotations

from typing import Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit, print_json


def generate(
    family: Annotated[str, typer.Argument(metavar="FAMILY", help="One of: slotwise families.")],
    out: options.OutDir,
    count: options.Count = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> int:
    """Write instance files of a family.

    A file with other content is never overwritten.
    """
    from slotwise.models.families.registry import FAMILIES

    options.known(family, list(FAMILIES), "FAMILY")
    written = inputs.generate(FAMILIES[family], count, seed, out)
    if as_json:
        print_json({"family": family, "seed": seed, "files": [str(path) for path in written]})
    else:
        exits.emit("".join(f"{path}\n" for path in written))
    return Exit.DONE
