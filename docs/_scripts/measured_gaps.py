"""The measured gaps of docs/methods/ and of docs/partitioners.md, from the rows of gradings.

    python docs/_scripts/measured_gaps.py collect FOLDER   # of `slotwise grade`, into measured.csv
    python docs/_scripts/measured_gaps.py write            # the tables of all pages from it

`measured.csv` has one line for each method and instance, with how the run ended and the terms of
the placement, so that tables can be written, and values checked, without grading again. Lines of a
folder take the place of those of the same methods on the same instances.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import marked
import pandas as pd

FOLDER = Path(__file__).parents[1] / "methods"
PARTITIONERS = FOLDER.parent / "partitioners.md"
DATA = FOLDER / "measured.csv"
PREFIX = "measured: "
"""Of a table's name; names of methods follow, with commas, and may end with ``on FAMILY``."""
OPTIMUM = "optimum"
HEAD = ("method", "family", "compared on", "placed", "optimal", "gap: median", "p95")
HEAD = (*HEAD, "mean", "failed", "does not apply")


class Line(NamedTuple):
    """One method on one instance; `values` are ``term=value`` with blanks between."""

    family: str
    index: int
    instance: str
    method: str
    status: str
    values: str


def collect(folder: Path) -> list[Line]:
    """Return the lines of a graded folder; every feasible instance must have a proven optimum."""
    from slotwise.benchmarks.grading.store import Store
    from slotwise.benchmarks.judged.judging import Proof
    from slotwise.benchmarks.judged.reading import judged_rows

    rows = Store(folder).rows()
    judged = judged_rows(rows)
    if judged.contradictions:
        raise SystemExit("\n".join(judged.contradictions))
    if set(judged.proof) - {Proof.PROVEN, Proof.INFEASIBLE}:
        raise SystemExit("some instances are not proven")
    lines = []
    for row in (rows[number] for number in judged.runs["row"]):
        terms = row["terms"] or () if row["status"] in ("valid", "optimal") else ()
        values = " ".join(f"{term['term']}={term['value']}" for term in terms)
        method = OPTIMUM if row["kind"] == "exact" else row["method"]
        place = (row["family"], row["case_index"], row["instance"])
        lines.append(Line(*place, method, row["status"], values))
    return sorted(lines)


def read() -> list[Line]:
    """Return the lines of `measured.csv`."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return [Line(**{**row, "index": int(row["index"])}) for row in csv.DictReader(file)]


@cache
def measured() -> dict[tuple[str, str], dict[str, Any]]:
    """Return (family, method) -> its row in the table of methods, summed up by the judged table."""
    from slotwise.benchmarks.judged.reading import judged_rows
    from slotwise.benchmarks.judged.summary import summarise

    summary = summarise(judged_rows([_row(line) for line in read()]), "", ("family",))
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in summary.methods.to_dict("records"):
        known = found.setdefault((row["family"], row["method"]), row)
        if known["group"] != known["group"]:  # A group that it is in says more than none.
            found[row["family"], row["method"]] = row
    return found


def _row(line: Line) -> dict[str, Any]:
    """Return what the judged table reads of a row."""
    from slotwise.benchmarks.grading.rows import MEANING

    exact = line.method == OPTIMUM
    pairs = [text.split("=") for text in line.values.split()]
    terms = [{"term": t, "value": v, "bound": v if exact else None} for t, v in pairs]
    return {
        "instance_hash": f"{line.family} {line.index}",
        "instance": line.instance,
        "family": line.family,
        "tasks": 1, "nodes": 1, "tightness": 0.0, "seed": 0, "wall_s": 0.0, "time_limit_s": 0.0,
        "kind": "exact" if exact else "heuristic",
        "method": line.method,
        "version": MEANING,
        "status": line.status,
        "terms": terms or None,
    }  # fmt: skip


def rows_of(method: str, only: str = "") -> Iterator[tuple[str, ...]]:
    """Yield a table row for each family that a method was graded on, or for that family alone."""
    from slotwise.benchmarks.judged.method_table import percent

    for (family, name), row in measured().items():
        if name != method or only not in ("", family):
            continue
        of_gap = (percent(row[f"network_{of}_low"]) for of in ("median", "p95", "mean"))
        counts = ("instances", "placed", "at_optimum")
        yield (
            *(f"`{method}`", f"`{family}`"),
            *("-" if pd.isna(row[name]) else str(row[name]) for name in counts),
            *of_gap,
            *(str(row["failed"]), str(row["does_not_apply"])),
        )


def body(names: str) -> str:
    """Return the table of some methods, named with commas between, as in `PREFIX`."""
    methods, _, family = names.partition(" on ")
    rows = [row for name in methods.split(", ") for row in rows_of(name, family)]
    return marked.table(HEAD, rows, text_columns=2)


def pages() -> Iterator[tuple[Path, str, str]]:
    """Yield page, names of methods, and the table as it stands, for every marked table."""
    for page in (*sorted(FOLDER.glob("*.md")), PARTITIONERS):
        for name, text in marked.blocks(page.read_text("utf-8")).items():
            if name.startswith(PREFIX):
                yield page, name.removeprefix(PREFIX), text


def main(words: list[str]) -> None:
    """Run as a program."""
    match words:
        case ["collect", folder]:
            lines = {(*line[:3], line.method): line for line in (*read(), *collect(Path(folder)))}
            with DATA.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(Line._fields)
                writer.writerows(sorted(lines.values()))
        case ["write"]:
            for page, names, _ in list(pages()):
                marked.write(page, PREFIX + names, body(names))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
