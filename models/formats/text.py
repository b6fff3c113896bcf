"""From a file to plain data and back: bytes, text, JSON or YAML."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from slotwise.models.errors import InputError, in_file
from slotwise.models.formats.file_bytes import STDIN, read_bytes, read_stdin, write_atomically
from slotwise.models.formats.json_text import parse_json, pretty_json
from slotwise.models.formats.yaml_text import parse_yaml, yaml_text

YAML_SUFFIXES = (".yaml", ".yml")


def read_data(source: str | Path) -> tuple[Any, str]:
    """Return the data of the file `source` (``-`` = stdin) and its name for messages.

    Raises
    ------
    InputError
        When it cannot be read (see `file_bytes`), is not UTF-8 text, is empty, or is not JSON or
        YAML.
    """
    file = "stdin" if str(source) == STDIN else str(source)
    content = read_stdin() if str(source) == STDIN else read_bytes(Path(source))
    with in_file(file):
        return parse_text(_decoded(content), yaml=file.lower().endswith(YAML_SUFFIXES)), file


def read_text(path: Path) -> str:
    """Return the text of a file; raises `InputError` when it cannot be read or is not UTF-8."""
    with in_file(str(path)):
        return _decoded(read_bytes(path))


def parse_text(text: str, *, yaml: bool = False) -> Any:
    """Return the data of a text: JSON where it begins like an object or list, else YAML.

    Parameters
    ----------
    text
        Of one file.
    yaml
        Read it as YAML whatever it begins with.
    """
    start = text.lstrip()[:1]
    if not start:
        raise InputError("is empty; it must be an object in JSON or YAML", has_value=False)
    return parse_json(text) if start in "{[" and not yaml else parse_yaml(text)


def write_data(path: str | Path, document: dict[str, Any]) -> None:
    """Write data, whole or not at all; as YAML where the path ends so, else as JSON."""
    as_yaml = str(path).lower().endswith(YAML_SUFFIXES)
    write_atomically(path, yaml_text(document) if as_yaml else pretty_json(document) + "\n")


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "is not UTF-8 text", field=f"byte {error.start}", value=content[error.start :][:8]
        ) from error


# Text as cells of CSV files, which spreadsheets must not take for formulas.

_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( ?%)?", re.IGNORECASE)
_FORMULA = re.compile(r"'*[-=+@\t\r]")


def csv_cell(text: str) -> str:
    """Return text as a cell, with a ``'`` before text that a spreadsheet would run as a formula.

    That is text that begins with ``=``, ``@``, ``+``, ``-``, a tab or a carriage return; numbers
    stay numbers. Where quotes stand before such a sign there is one more, so that `text_of_cell`
    gives every text back.
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Yield rows as lines of CSV; no text is a formula (`csv_cell`), ``None`` an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        writer.writerow(csv_cell(cell) if isinstance(cell, str) else cell for cell in row)
        yield out.getvalue()
        out.seek(0)
        out.truncate()


def text_of_cell(cell: str) -> str:
    """Return the text of a cell that `csv_cell` wrote."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
