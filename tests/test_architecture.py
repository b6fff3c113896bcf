"""The rules between the packages, as tables. A new package or root module needs a row here.

Names are those of modules and packages without the leading ``slotwise.``; a package stands for all
modules below it that no longer name in the table takes.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
from import_graph import INIT, Import, imports, modules, outside_imports

# Lowest first. A row may import the rows above it and nothing below it; the entries of one row
# do not import each other.
LAYERS = """
models.work_clock
models.__init__ models.one_line models.cancellation models.suggestion models.display models.frame
models.errors
models.values
models.instance models.number_text models.performance models.dataflow
models.problem
models.allocation
models.formats models.judge models.infeasibility
models.formats.running
models.formats.given_placement
models.importers models.certificates models.graph_files models.explanation
models.performance.rows models.dataflow.file models.allocation.file
models.performance.tables
models.performance.file
models.performance.article models.allocation.case
models.instance_file models.schemas models.families
models.schema_keys

heuristics.decision_log
heuristics.method heuristics.method_names heuristics.method_error
heuristics.partial_placement heuristics.placed_neighbours heuristics.node_capacity
heuristics.storm_outcome
heuristics.others_code heuristics.one_by_one heuristics.parameters heuristics.round_robin
heuristics.run heuristics.partitioning
heuristics.ras.java
heuristics.ras.model
heuristics.ras.state
heuristics.ras.strategies
heuristics.ras.scheduler
heuristics.ras
heuristics.rstorm heuristics.rstorm.storm_1 heuristics.sam heuristics.stromax
heuristics.__init__ heuristics.external
heuristics.registry

solver.__init__ solver.parameters
solver.core
solver.structure
solver.contradictions
solver.baseline solver.presolve solver.exhaustive solver.local_search solver.assignment
solver.assignment.subsets
solver.compact
solver.compact.cp_sat solver.compact.milp
solver.compact.__init__
solver.column_generation
solver.column_generation.worker_packing
solver.column_generation.configurations
solver.column_generation.columns solver.column_generation.connected
solver.column_generation.connected.joint
solver.column_generation.connected.engine
solver.column_generation.engine solver.partition solver.few_moves solver.orphans
solver.engines solver.large_neighbourhood
solver.whole_cluster
solver.portfolio
solver.solve
solver.admission solver.verification solver.slots solver.explain solver.rebalance
solver.explain.conflicts
solver.explain.repairs
solver.explain.explain solver.explain.placements
solver.allocation

testing.choices testing.fresh_randomness testing.hypothesis_extra
testing.random_instances
testing.strategies testing.validators
testing.checks.answer testing.checks.reduction
testing.checks.processes
testing.checks
testing.strategies.story_checks
testing.strategies.stories
testing.checks.properties
testing.checks.table
testing.checks.drawn testing.checks.report
testing.checks.search testing.checks.one_instance testing.checks.failure_text
testing.checks.failure_files testing.checks.functions
testing.pytest_plugin
testing

benchmarks.__init__ benchmarks.table benchmarks.child_process benchmarks.spark
benchmarks.grading benchmarks.profiling benchmarks.statistics
benchmarks.grading.children
benchmarks.grading.batch.task
benchmarks.grading.batch.start
benchmarks.analysis
benchmarks.aggregation
benchmarks.report.viewer benchmarks.report.figures.numbers benchmarks.report.figures.drawing
benchmarks.report.figures
benchmarks.report benchmarks.grade
benchmarks.report.comparison benchmarks.report.paper
benchmarks.proofs.generated benchmarks.simulated_logs
benchmarks.proofs benchmarks.storm benchmarks.storm_like benchmarks.slots benchmarks.reproduction
benchmarks.following
benchmarks.speed benchmarks.rebalancing benchmarks.measuring benchmarks.clusters
benchmarks.experiments
benchmarks.__main__

api.__init__ api.plain_data
api.inputs
api.allocation_inputs
api.explanations
api

__init__
cli.__init__ cli.exits cli.options
cli.inputs cli.progress cli.profile_progress cli.new_package
cli.answers cli.codes cli.scheduler_tests
cli.render.tables
cli.render.running
cli.render.results
cli.render.explained
cli.render
cli.commands
cli.app
__main__
"""

# Where the layers would allow more than they should: who may not import what.
_ENGINES = ("solver.exhaustive", "solver.local_search", "solver.assignment")
NOT_EVEN = {
    # An engine is no part of another one, save that columns use CP-SAT; and of the methods, only
    # baseline knows any (its start), and admission Storm's scheduler (which it is compared with).
    "solver.compact": ("heuristics", *_ENGINES),
    "solver.column_generation": ("heuristics", "solver.compact.milp", *_ENGINES),
    "solver.exhaustive": ("heuristics",),
    "solver.local_search": ("heuristics",),
    "solver.assignment": ("heuristics",),
    "solver.portfolio": ("heuristics",),
    # How a topology is solved alone is handed to it.
    "solver.whole_cluster": ("heuristics", "solver.column_generation", "solver.engines", *_ENGINES),
    # It knows nothing of placement: bundles of threads on slots alone.
    "solver.slots": ("heuristics", "models.problem", "models.judge", "solver.solve"),
    # What users run does not need what tests and measures the engines.
    "benchmarks.grading": ("testing",),
    "benchmarks.report": ("testing",),
    # Of testing, it has the kit for other people's schedulers and validators alone.
    "cli": (
        *("testing.agreement", "testing.engines_agree", "testing.mutations", "testing.panel"),
        *("testing.random_instances", "testing.rule_coverage", "testing.tally"),
        *("benchmarks.proofs", "benchmarks.slots", "benchmarks.speed", "benchmarks.storm"),
        "benchmarks.storm_like",
    ),
}

# Packages of others, and who may import them; those that are not listed are free.
_SOLVERS = ("solver", "benchmarks.proofs")
OUTSIDE = {
    "highspy": (
        "solver.column_generation.restricted_master",
        "solver.compact.milp",
        "solver.slots.points",
        "benchmarks.proofs",
    ),
    "hypothesis": (
        *("testing.strategies", "testing.validators"),
        *(f"testing.checks.{name}" for name in ("drawn", "functions", "keyed_database", "search")),
    ),
    "jinja2": ("benchmarks.report", "cli.new_package"),
    "kahip": ("heuristics.partitioning",),
    "matplotlib": ("benchmarks.report", "cli.render"),
    "numba": (
        *("solver", "models.graph_files", "heuristics.partitioning"),
        "benchmarks.grading.children.compiled_loops",
    ),
    "ortools": _SOLVERS,
    "pandas": ("benchmarks", "api.gradings", "models.frame"),
    "psutil": (
        *("benchmarks.grading.children", "benchmarks.profiling", "benchmarks.speed.harness.task"),
    ),
    "pulp": _SOLVERS,
    "py4j": ("benchmarks.spark",),
    "pyarrow": ("benchmarks.grading", "benchmarks.aggregation.runs", "models.performance.tables"),
    "pytest": ("testing.pytest_plugin",),
    "pymetis": ("heuristics.partitioning",),
    "pyspark": (
        *("benchmarks.spark", "benchmarks.grading.batch", "benchmarks.grading.oracle"),
        "benchmarks.statistics",
        *("benchmarks.following", "benchmarks.speed.planned_runs", "benchmarks.speed.statistics"),
        *("benchmarks.aggregation", "api.gradings"),
    ),
    "rich": ("cli", "benchmarks.grading.progress"),
    "scipy": ("benchmarks.aggregation",),
    "typer": ("cli",),
    "venv_pack": ("benchmarks.spark.pack",),
    "yaml": ("models.formats", "testing"),
}

MIN_STORY_LINES = 3
"""Least lines of the docstring that tells what a package is for."""

ROOT = Path(__file__).parents[1]
MODULES = modules(ROOT)
IMPORTS = imports(MODULES)
LEVEL = {entry: level for level, row in enumerate(LAYERS.splitlines()) for entry in row.split()}


def is_in(module: str, package: str) -> bool:
    """Whether `module` is `package` or lies in it."""
    return module == package or module.startswith(f"{package}.")


def entry_of(module: str) -> str | None:
    """Return the longest name in the table that `module` is in."""
    return max((name for name in LEVEL if is_in(module, name)), key=len, default=None)


def breaks_layers(one: Import) -> bool:
    """Whether `one` leads up, or to a neighbour in the row."""
    importer, imported = entry_of(one.importer), entry_of(one.imported)
    assert importer is not None, one
    assert imported is not None, one
    return importer != imported and LEVEL[importer] <= LEVEL[imported]


def is_ruled_out(one: Import) -> bool:
    """Whether `NOT_EVEN` has a row against `one`."""
    return any(
        is_in(one.importer, importer) and is_in(one.imported, imported)
        for importer, row in NOT_EVEN.items()
        for imported in row
    )


def is_smuggled(one: Import) -> bool:
    """Whether `one` is of a package that only others may import."""
    allowed = OUTSIDE.get(one.imported)
    return allowed is not None and not any(is_in(one.importer, name) for name in allowed)


def test_every_module_has_a_row() -> None:
    assert [module for module in MODULES if entry_of(module) is None] == []


def test_every_name_of_the_tables_is_there() -> None:
    named = {*LEVEL, *NOT_EVEN, *(name for row in NOT_EVEN.values() for name in row)}
    named |= {name for row in OUTSIDE.values() for name in row}
    assert [name for name in named if not any(is_in(module, name) for module in MODULES)] == []
    repeated = Counter(LAYERS.split())
    assert [name for name, count in repeated.items() if count > 1] == []


def test_imports_lead_down() -> None:
    assert [str(one) for one in IMPORTS if breaks_layers(one)] == []


def test_engines_and_commands_keep_apart() -> None:
    assert [str(one) for one in IMPORTS if is_ruled_out(one)] == []


def test_packages_of_others_are_imported_where_they_belong() -> None:
    assert [str(one) for one in outside_imports(MODULES) if is_smuggled(one)] == []


def circles(found: list[Import]) -> list[list[str]]:
    """List the sets of modules that import each other, directly or not."""
    graph = nx.DiGraph([(one.importer, one.imported) for one in found])
    return [sorted(part) for part in nx.strongly_connected_components(graph) if len(part) > 1]


def test_no_modules_import_each_other() -> None:
    assert circles(IMPORTS) == []


def packages() -> list[str]:
    return [name.removesuffix(INIT).rstrip(".") for name in MODULES if name.endswith(INIT)]


def story(package: str) -> str:
    path = MODULES[f"{package}.{INIT}".lstrip(".")]
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


@pytest.mark.parametrize("package", packages())
def test_package_says_what_it_is_for(package: str) -> None:
    text = story(package)
    assert len(text.splitlines()) >= MIN_STORY_LINES
    first = re.search(r"Start\s+with\s+`(\w+)`", text)
    assert first, "which file to read first"
    named = f"{package}.{first[1]}".lstrip(".")
    assert any(is_in(module, named) for module in MODULES), named


def test_the_story_of_a_package_names_the_packages_in_it() -> None:
    parents = [(name.rpartition(".")[0], name.rpartition(".")[2]) for name in packages() if name]
    named = [(parent, child) for parent, child in parents if parent]
    unnamed = [pair for pair in named if not re.search(rf"`{pair[1]}[`.]", story(pair[0]))]
    assert unnamed == []


def test_the_page_on_the_packages_lists_them_all() -> None:
    page = (ROOT / "docs" / "development" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in packages() if name and f"`{name}`" not in page] == []


# Control is explicit: a token that is passed on. State of a thread would tell a search to stop, or
# what memory it has, behind the back of its callers; Ctrl-C is the user's alone to raise. Nothing
# has needed either so far.
EXPLICIT = ("models", "heuristics", "solver")


def hidden_control(source: str) -> list[str]:
    """List where thread-local state is made or imported, and where Ctrl-C is raised."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = {(node.module, alias.name) for alias in node.names}
            local = bool(names & {("threading", "local"), ("_thread", "_local")})
            local |= node.module == "contextvars"
        else:
            local = isinstance(node, ast.Attribute) and ast.unparse(node) == "threading.local"
        raised = isinstance(node, ast.Raise) and node.exc is not None
        ctrl_c = raised and ast.unparse(node.exc).partition("(")[0] == "KeyboardInterrupt"
        if local or ctrl_c:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def test_control_is_passed_as_an_argument() -> None:
    explicit = {n: path for n, path in MODULES.items() if any(is_in(n, p) for p in EXPLICIT)}
    found = {n: hidden_control(path.read_text(encoding="utf-8")) for n, path in explicit.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def caught_ctrl_c(source: str) -> bool:
    """Whether some ``except`` names `KeyboardInterrupt`."""
    handlers = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ExceptHandler)]
    return any(one.type and "KeyboardInterrupt" in ast.unparse(one.type) for one in handlers)


def test_ctrl_c_is_caught_where_the_signal_arrives_only() -> None:
    """`supervised` waits in the caller's thread; searches, in theirs, know tokens alone."""
    explicit = {n: path for n, path in MODULES.items() if any(is_in(n, p) for p in EXPLICIT)}
    catching = [n for n, p in explicit.items() if caught_ctrl_c(p.read_text(encoding="utf-8"))]
    assert catching == ["solver.core.supervision"]


@pytest.mark.parametrize(
    "source",
    [
        "import threading\nhere = threading.local()",
        "from threading import Lock, local",
        "from contextvars import ContextVar",
        "def f():\n    raise KeyboardInterrupt",
        "raise KeyboardInterrupt('stop') from None",
    ],
)
def test_hidden_control_is_seen(source: str) -> None:
    assert hidden_control(source)


def sample(folder: Path, importer: str, source: str) -> list[Import]:
    """Return what `importer`, with `source` as its text, imports in a tree like ours."""
    path = folder / "sample.py"
    path.write_text(source, encoding="utf-8")
    known = {**dict.fromkeys(MODULES, folder / "empty.py"), importer: path}
    (folder / "empty.py").touch()
    return imports(known) + outside_imports(known)


@pytest.mark.parametrize(
    ("importer", "source"),
    [
        ("models.judge.rules", "from slotwise.solver.solve import solve"),
        ("models.judge.rules", "def f():\n    import slotwise.solver.solve"),
        ("models.judge.rules", "if TYPE_CHECKING:\n    from slotwise.solver import solve"),
        ("solver.exhaustive.engine", "from slotwise.solver.local_search import engine"),
        ("heuristics.run", "import_module('slotwise.heuristics.registry')"),
        ("heuristics.run", "from slotwise import solve"),
    ],
)
def test_imports_up_are_seen(importer: str, source: str, tmp_path: Path) -> None:
    found = [one for one in sample(tmp_path, importer, source) if one.imported in MODULES]
    assert any(breaks_layers(one) for one in found)


def test_what_is_ruled_out_is_seen(tmp_path: Path) -> None:
    source = "from slotwise.solver.assignment.tabu import TABU"
    found = sample(tmp_path, "solver.column_generation.engine", source)
    assert [one.imported for one in found if is_ruled_out(one)] == ["solver.assignment.tabu"]


@pytest.mark.parametrize("source", ["import ortools.sat", "from pyspark.sql import DataFrame"])
def test_smuggled_packages_are_seen(source: str, tmp_path: Path) -> None:
    assert any(is_smuggled(one) for one in sample(tmp_path, "models.values", source))


def test_circles_are_seen() -> None:
    path = Path("x.py")
    found = [Import("a", path, 1, "b"), Import("b", path, 1, "c"), Import("c", path, 1, "a")]
    assert circles(found) == [["a", "b", "c"]]
