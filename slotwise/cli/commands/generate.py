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
    """Write instance files of a family; of sam, files of allocation cases.

    A file with other content is never overwritten.
    """
    from slotwise.models.allocation.case import case_text
    from slotwise.models.families.registry import ALLOCATION_FAMILIES, FAMILIES
    from slotwise.models.instance_file import instance_text

    options.known(family, [*FAMILIES, *ALLOCATION_FAMILIES], "FAMILY")
    if family in FAMILIES:
        made = FAMILIES[family].generate(count, seed)
        texts = {instance.name: instance_text(instance) for instance in made}
    else:
        cases = ALLOCATION_FAMILIES[family].generate(count, seed)
        texts = {case.name: case_text(case) for case in cases}
    written = inputs.save_texts(texts, out)
    if as_json:
        print_json({"family": family, "seed": seed, "files": [str(path) for path in written]})
    else:
        exits.emit("".join(f"{path}\n" for path in written))
    return Exit.DONE
