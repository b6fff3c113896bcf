"""The pictures of docs/pictures/: commands, placements, the chart of gaps. None is made by hand.

    python docs/_scripts/pictures.py [FOLDER]      # default: docs/pictures

Run at the root of the repository. A command is drawn as it prints, so that
seconds in it differ from run to run.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import measured_gaps
from rich.console import Console

ROOT = Path(__file__).parents[2]
EXAMPLE = "docs/examples/word-count.json"
COMMANDS = {
    "solve": f"slotwise solve {EXAMPLE} --out plan.json",
    "place": f"slotwise place {EXAMPLE} --with r-storm",
    "schedule": "slotwise schedule docs/examples/shared-cluster.yaml --priority fifo",
    "allocate": "slotwise allocate star --rate 100",
    "explain": "slotwise explain docs/examples/tight.json --with r-storm",
}
"""Picture -> the command line in it."""
PLACED = {"optimum": "the proven optimum", "r-storm": "r-storm", "round-robin": "round-robin"}
"""Method -> its words above the picture of its placement of `EXAMPLE`."""
FAMILIES = ("partition", "random", "rstorm", "stromax")
COLUMNS = 88
PAPER = "#ffffff"
BAR = "#4477aa"


def command_svg(command: str) -> str:
    """Return what a command prints, with the command above it, as a terminal of `COLUMNS`."""
    from slotwise.cli.app import run

    printed = StringIO()
    with redirect_stdout(printed):
        run([*shlex.split(command)[1:]])
    console = Console(record=True, width=COLUMNS, file=StringIO(), highlight=False, markup=False)
    console.print(f"$ {command}\n{printed.getvalue().rstrip()}", soft_wrap=False)
    # A fixed id, for the one that Rich makes depends on the text; no font from another site.
    svg = console.export_svg(title="slotwise", unique_id="terminal")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def placement_svg(method: str) -> str:
    """Return the placement of `EXAMPLE` by a method, or the optimum."""
    import slotwise
    from slotwise.benchmarks.report.viewer.svg import draw
    from slotwise.models.problem.compile import compile_problem

    instance = slotwise.read_instance(EXAMPLE)
    if method == "optimum":
        placement = slotwise.solve(instance).placement
    else:
        placement = slotwise.place(instance, method)
    assert isinstance(placement, slotwise.Placement), f"{method} places {EXAMPLE}"
    return draw(compile_problem(instance), placement, f"word-count by {PLACED[method]}")


def gaps_svg() -> str:
    """Return the median gaps of `measured.csv`: a panel for each family, a bar for each method."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    lines = measured_gaps.read()
    named = dict.fromkeys(line.method for line in lines if ":" not in line.method)
    methods = [name for name in named if name != "optimum"]
    medians = {r[:2]: r[5] for method in methods for r in measured_gaps.rows_of(method)}
    style = {"svg.hashsalt": "slotwise", "svg.fonttype": "none", "font.size": 8}
    with mpl.rc_context(style):
        figure = Figure(figsize=(9, 4.8), layout="constrained")
        panels = figure.subplots(1, len(FAMILIES), sharey=True)
        for panel, family in zip(panels, FAMILIES, strict=True):
            for y, method in enumerate(reversed(methods)):
                text = medians.get((f"`{method}`", f"`{family}`"), "-").removesuffix(" %")
                if text == "∞":
                    panel.annotate(" ∞", (0, y), va="center", color=BAR)
                elif text != "-":
                    panel.barh(y, float(text), color=BAR)
            panel.set_title(family)
            panel.set_xlabel("median gap, %")
            panel.set_yticks(range(len(methods)), list(reversed(methods)))
            panel.spines[["top", "right"]].set_visible(False)
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None}, facecolor=PAPER)
    return out.getvalue()


def pictures() -> Iterator[tuple[str, Callable[[], str]]]:
    """Yield the name of each picture, and what makes it."""
    for name, command in COMMANDS.items():
        yield f"command-{name}", lambda command=command: command_svg(command)
    for method in PLACED:
        yield f"placement-{method}", lambda method=method: placement_svg(method)
    yield "gaps", gaps_svg


def main(words: list[str]) -> None:
    """Run as a program."""
    folder = Path(words[0] if words else ROOT / "docs" / "pictures").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as place, chdir(place):
        (Path(place) / "docs").symlink_to(ROOT / "docs")  # commands write into an empty folder
        for name, make in pictures():
            text = "\n".join(line.rstrip() for line in make().splitlines()) + "\n"
            (folder / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
