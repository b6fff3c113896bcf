"""What commands read and write: instances, placements, output files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.cli.exits import note
from slotwise.cli.options import WITHOUT_NODE, node_ids
from slotwise.models.errors import InputError

if TYPE_CHECKING:
    from slotwise.models.instance.instance import Instance
    from slotwise.models.instance.placement import Placement
    from slotwise.models.performance.rows import Models
    from slotwise.models.problem.problem import Problem

STDIN = "-"


def load_problem(source: str, without_node: str | None = None, **decoded: Any) -> Problem:
    """Read and compile the instance in the file `source`; see `load_instance`."""
    instance = load_instance(source, without_node, **decoded)
    return compiled(instance, source)


def load_instance(source: str, without_node: str | None = None, **decoded: Any) -> Instance:
    """Read the instance in the file `source`, or on stdin for ``-``.

    Nodes that `running` names and the cluster lacks, and resources that tasks need and no node
    offers, are noted on stderr. Then the nodes of `without_node` are left out.
    """
    from slotwise.models.instance.lost_nodes import lost_node_notes, without_nodes
    from slotwise.models.instance_file import read_instance
    from slotwise.models.problem.unoffered import unoffered

    instance = read_instance(source, **decoded)
    for line in (*lost_node_notes(instance), *unoffered(instance)):
        note(f"{source}: {line}")
    gone = node_ids(without_node)
    return without_nodes(instance, gone, WITHOUT_NODE) if gone else instance


def compiled(instance: Instance, source: str) -> Problem:
    """Compile the instance of the file `source`."""
    from slotwise.models.problem.compile import compile_problem

    try:
        return compile_problem(instance)
    except InputError as error:
        raise error.in_file(source) from error  # numbers too far apart: say in which file


def load_placement(source: str, instance: Instance) -> Placement:
    """Read a placement of `instance` from the file `source`, or from stdin for ``-``.

    A file without the hash of its instance is taken, with a note on stderr.
    """
    from slotwise.models.formats.given_placement import read_given_placement

    given = read_given_placement(source, instance)
    if given.note is not None:
        note(given.note)
    return given.placement


def load_models(source: str | None) -> Models:
    """Read performance models from a file; ``None`` = the SAM article's."""
    from slotwise.api.allocation_inputs import as_models

    return as_models(source)


def check_target(path: Path | None, option: str = "--out") -> None:
    """Refuse an output file that cannot be written, before the work and not after it."""
    if path is None:
        return
    if path.is_dir():
        raise InputError("is a folder; name a file", field=option, value=str(path))
    if not path.parent.is_dir():
        raise InputError(
            f"the folder {str(path.parent)!r} does not exist", field=option, value=str(path)
        )
    if not os.access(path.parent, os.W_OK):
        raise InputError(
            f"the folder {str(path.parent)!r} cannot be written to", field=option, value=str(path)
        )


def save_placement(path: Path, instance: Instance, placement: Placement) -> None:
    """Write a placement file, whole or not at all."""
    from slotwise.models.formats.placement_file import write_placement

    write_placement(path, instance, placement)


def save_data(path: Path, document: dict[str, Any]) -> None:
    """Write the data of a file as JSON, or as YAML by its suffix, whole or not at all."""
    from slotwise.models.formats.text import write_data

    write_data(path, document)


def placement_or_none(instance: Instance, placement: Placement | None) -> dict[str, Any] | None:
    """Return the content of a placement file, or ``None`` where there is no placement."""
    from slotwise.models.formats.placement_file import placement_document

    return None if placement is None else placement_document(instance, placement)


def hashed(instance: Instance) -> dict[str, str]:
    """Return the entry that says which instance an answer belongs to."""
    from slotwise.models.instance_file import instance_hash

    return {"instance": instance_hash(instance)}


def save_texts(named: Mapping[str, str], folder: Path) -> list[Path]:
    """Write each text into `folder`, as a JSON file of its name.

    Files that stand there with the same content are left alone. If one stands there with other
    content nothing is written at all.
    """
    from slotwise.models.formats.atomic_file import write_atomically

    if folder.exists() and not folder.is_dir():
        raise InputError("is not a folder", field="--out", value=str(folder))
    texts = {folder / f"{name}.json": text for name, text in named.items()}
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
    return list(texts)


def _holds(path: Path, content: bytes) -> bool:
    """Say whether `path` is a file with this content; of another size it is not even read."""
    return path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content
