"""Reading and writing instances: our own files, and the others that we recognise."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.instance_writer import instance_document, instance_hash
from slotwise.models.formats.json_text import pretty_json
from slotwise.models.formats.text import parse_text, read_data, write_data
from slotwise.models.formats.validation import check_format, validated
from slotwise.models.importers.matrix_assignment import MATRIX_FORMAT, instance_from_matrices
from slotwise.models.importers.storm_cluster import instance_from_storm, is_storm_cluster
from slotwise.models.instance.instance import Instance

__all__ = [
    "instance_document",
    "instance_from_data",
    "instance_from_text",
    "instance_hash",
    "instance_text",
    "read_instance",
    "write_instance",
]


def read_instance(
    source: str | Path,
    *,
    topology: str | None = None,
    worker_min_cpu: Decimal | int | str | None = None,
    submitters: bool = False,
) -> Instance:
    """Read an instance, in JSON or YAML.

    Recognised by content: ``slotwise.instance/1``, ``matrix-assignment``, decoded Storm clusters.

    Parameters
    ----------
    source
        Path; ``-`` = stdin.
    topology
        Of a decoded Storm cluster: this one alone on the empty cluster; ``None`` = all.
    worker_min_cpu
        Of a decoded Storm cluster: least cpu of a worker, points; ``None`` = the file's.
    submitters
        Of a decoded Storm cluster: whether each topology's submitter is its owner; else all have
        one owner, as in Storm's test.

    Raises
    ------
    InputError
        One line: file, field, value, rule.
    """
    data, file = read_data(source)
    with in_file(file):
        return instance_from_data(
            data, topology=topology, worker_min_cpu=worker_min_cpu, submitters=submitters
        )


def instance_from_text(text: str, *, file: str = "text") -> Instance:
    """Return the instance in a text; `file` names it in messages."""
    with in_file(file):
        return instance_from_data(parse_text(text))


def instance_from_data(
    data: Any,
    *,
    topology: str | None = None,
    worker_min_cpu: Decimal | int | str | None = None,
    submitters: bool = False,
) -> Instance:
    """Return the instance in the data of a file, of whatever kind it is; see `read_instance`."""
    if isinstance(data, dict) and is_storm_cluster(data):
        return instance_from_storm(
            data, topology=topology, worker_min_cpu=worker_min_cpu, submitters=submitters
        )
    given = {"topology": topology, "worker_min_cpu": worker_min_cpu}
    for option, value in {**given, "submitters": submitters or None}.items():
        if value is not None:
            raise InputError("applies to decoded Storm clusters only", field=option, value=value)
    check_format(data, str(Instance.FORMAT), MATRIX_FORMAT)
    if data["format"] == MATRIX_FORMAT:
        return instance_from_matrices(data)
    return validated(Instance, data)


def instance_text(instance: Instance) -> str:
    """Return the instance as the text of a JSON file, defaults written out."""
    return pretty_json(instance_document(instance)) + "\n"


def write_instance(path: str | Path, instance: Instance) -> None:
    """Write an instance file, defaults written out, whole or not at all.

    Parameters
    ----------
    path
        Of the file: YAML where it ends in ``.yaml`` or ``.yml``, otherwise JSON.
    instance
        What to write.

    Raises
    ------
    InputError
        When the file cannot be written.

    Examples
    --------
    >>> import slotwise
    >>> (instance,) = slotwise.generate("rstorm", count=1)
    >>> slotwise.write_instance("copy.yaml", instance)
    >>> slotwise.read_instance("copy.yaml") == instance
    True
    """
    write_data(path, instance_document(instance))
