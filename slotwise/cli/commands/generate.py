"""The command ``generate``."""

from __future__ import annotations

from typing import Annotated

import typer

from slotwise.cli import exits, inputs, options
from slotwise.cli.exits import Exit, print_json


def generate(
    family: Annotated[
        str,
        typer.Argument(metavar="FAMILY", help="Name of a family; slotwise families lists them."),
    ],
    out: options.OutDir,
    count: options.Count = None,
    seed: options.Seed = 0,
    tasks: Annotated[
        str | None,
        typer.Option(
            metavar="LEAST-MOST", help="Tasks of a topology, as 50-600; for storm-like only."
        ),
    ] = None,
    as_json: options.Json = False,
) -> int:
    """Write the instance files of a family; for sam, allocation cases.

    A file with other content is never overwritten.
    """
    from slotwise.api import listing
    from slotwise.models.allocation.case import case_text
    from slotwise.models.families.family import task_range
    from slotwise.models.instance.instance import Instance
    from slotwise.models.instance_file import instance_text

    with options.as_options(family="FAMILY", tasks="--tasks"):
        sizes = None if tasks is None else task_range(tasks)
        made = listing.generate(family, count=count, seed=seed, tasks=sizes)
    texts = {
        one.name: instance_text(one) if isinstance(one, Instance) else case_text(one)
        for one in made
    }
    written = inputs.save_texts(texts, out)
    if as_json:
        print_json({"family": family, "seed": seed, "files": [str(path) for path in written]})
    else:
        exits.emit("".join(f"{path}\n" for path in written))
    return Exit.DONE
