"""The measured gaps of the pages in docs/methods/, from the rows of a grading.

    python docs/_scripts/measured_gaps.py collect FOLDER   # of `slotwise grade`; makes measured.csv
    python docs/_scripts/measured_gaps.py write            # the tables of all pages from it

`measured.csv` has one line for each method and instance, with the gap and the terms of the
placement, so that tables can be written, and values checked, without grading again.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import marked

FOLDER = Path(__file__).parents[1] / "methods"
DATA = FOLDER / "measured.csv"
PREFIX = "measured: "
OPTIMUM = "optimum"
HEAD = ("method", "family", "instances", "placed", "optimal", "gap: mean", "median", "worst")
HEAD = (*HEAD, "no ratio", "refused", "invalid")


class Line(NamedTuple):
    """One method on one instance.

    `gap` is relative, empty where there is no placement, ``inf`` where the optimum of the first
    term that differs is 0; `values` are ``term=value`` with blanks between.
    """

    family: str
    index: int
    instance: str
    method: str
    status: str
    gap: str
    values: str


def collect(folder: Path) -> list[Line]:
    """Return the lines of a graded folder; every feasible instance must have a proven optimum."""
    from slotwise.benchmarks.analysis.aggregate import aggregate
    from slotwise.benchmarks.analysis.cases import latest
    from slotwise.benchmarks.analysis.gaps import row_gap
    from slotwise.benchmarks.grading.store import Store

    rows = latest(Store(folder).rows())
    found = aggregate(rows)
    if found.contradictions:
        raise SystemExit("\n".join(found.contradictions))
    lines = []
    for row in rows:
        exact = row["kind"] == "exact"
        if exact and row["status"] not in ("optimal", "infeasible"):
            raise SystemExit(f"{row['instance']} is not proven")
        gap = row_gap(row, found.references)
        ratio = "" if gap is None else "inf" if gap.relative is None else f"{gap.relative:.6g}"
        terms = row["terms"] or () if row["status"] in ("valid", "optimal") else ()
        values = " ".join(f"{term['term']}={term['value']}" for term in terms)
        method = OPTIMUM if exact else row["method"]
        place = (row["family"], row["case_index"], row["instance"])
        lines.append(Line(*place, method, row["status"], ratio, values))
    return sorted(lines)


def read() -> list[Line]:
    """Return the lines of `measured.csv`."""
    with DATA.open(encoding="utf-8", newline="") as file:
        return [Line(**{**row, "index": int(row["index"])}) for row in csv.DictReader(file)]


def rows_of(lines: Sequence[Line], method: str) -> Iterator[tuple[str, ...]]:
    """Yield a table row for each family that a method was graded on."""
    impossible = {line[:2] for line in lines if line.status == "infeasible"}
    mine = [line for line in lines if line.method == method and line[:2] not in impossible]
    for family in dict.fromkeys(line.family for line in mine):
        here = [line for line in mine if line.family == family]
        placed = [line for line in here if line.gap]
        gaps = [float(line.gap) for line in placed if line.gap != "inf"]
        yield (
            f"`{method}`",
            f"`{family}`",
            str(len(here)),
            str(len(placed)),
            str(sum(line.gap == "0" for line in placed)),
            *(f"{100 * f(gaps):.1f} %" if gaps else "-" for f in (mean, median, max)),
            str(len(placed) - len(gaps)),
            str(sum(line.status == "refused" for line in here)),
            str(sum(line.status not in ("refused", "valid") for line in here)),
        )


def body(lines: Sequence[Line], names: str) -> str:
    """Return the table of some methods, named with commas between."""
    rows = [row for name in names.split(", ") for row in rows_of(lines, name)]
    return marked.table(HEAD, rows, text_columns=2)


def pages() -> Iterator[tuple[Path, str, str]]:
    """Yield page, names of methods, and the table as it stands, for every marked table."""
    for page in sorted(FOLDER.glob("*.md")):
        for name, text in marked.blocks(page.read_text("utf-8")).items():
            if name.startswith(PREFIX):
                yield page, name.removeprefix(PREFIX), text


def main(words: list[str]) -> None:
    """Run as a program."""
    match words:
        case ["collect", folder]:
            with DATA.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(Line._fields)
                writer.writerows(collect(Path(folder)))
        case ["write"]:
            lines = read()
            for page, names, _ in list(pages()):
                marked.write(page, PREFIX + names, body(lines, names))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
