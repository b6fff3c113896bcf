"""The command ``generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slotwise.cli import exits, options
from slotwise.cli.command import Call, Purpose, command
from slotwise.cli.exits import Exit, print_json
from slotwise.models.errors import InputError


@command(
    "slotwise.generate",
    Purpose.FILES,
    family=Annotated[
        str,
        typer.Argument(metavar="FAMILY", help="Name of a family; slotwise families lists them."),
    ],
    tasks=Annotated[
        str | None,
        typer.Option(
            metavar="LEAST-MOST", help="Tasks of a topology, as 50-600; for storm-like only."
        ),
    ],
)
def generate(
    call: Call, *, family: str, seed: int, out: options.OutDir, as_json: options.Json = False
) -> int:
    """Write the instance files of a family; for sam, allocation cases.

    A file with other content is never overwritten.
    """
    from slotwise.models.allocation.case import case_text
    from slotwise.models.instance.instance import Instance
    from slotwise.models.instance_file import instance_text

    texts = {
        out / f"{one.name}.json": instance_text(one)
        if isinstance(one, Instance)
        else case_text(one)
        for one in call()
    }
    _save(texts, out)
    if as_json:
        print_json({"family": family, "seed": seed, "files": [str(path) for path in texts]})
    else:
        exits.emit("".join(f"{path}\n" for path in texts))
    return Exit.DONE


def _save(texts: dict[Path, str], folder: Path) -> None:
    """Write the files into `folder`.

    Files that stand there with the same content are left alone. If one stands there with other
    content nothing is written at all.
    """
    from slotwise.models.formats.file_bytes import write_atomically

    if folder.exists() and not folder.is_dir():
        raise InputError("is not a folder", field="--out", value=str(folder))
    for path, text in texts.items():
        if path.exists() and not _holds(path, text.encode()):
            raise InputError(
                "exists with other content; remove it or choose another --out",
                has_value=False,
                file=str(path),
            )
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        write_atomically(path, text)


def _holds(path: Path, content: bytes) -> bool:
    """Say whether `path` is a file with this content; of another size it is not even read."""
    return path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content
