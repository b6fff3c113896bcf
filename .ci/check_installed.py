"""Check that the installed package has every file of the checkout, and that all of it imports."""

import importlib
import pkgutil
import sys
from pathlib import Path

FOLDERS = ("slotwise", "models", "solver", "heuristics", "pipeline", "benchmarks")
LABORATORY = "benchmarks/experiments/"
"""What only experiments use stays in the checkout."""

SHIPPED = ("*.py", "py.typed", "data/*.json", "templates/*.j2", "templates/scheduler/*.j2")


def shipped_files(checkout: Path) -> set[str]:
    """List what the wheel must hold, by its path below the package."""
    files = set()
    for folder in FOLDERS:
        prefix = Path() if folder == "slotwise" else Path(folder)
        for pattern in SHIPPED:
            found = (checkout / folder).rglob(pattern)
            files |= {str(prefix / path.relative_to(checkout / folder)) for path in found}
    return {file for file in files if not file.startswith(LABORATORY)}


def main(checkout: Path) -> None:
    """Exit with a message if a file is missing or left over, or a module does not import."""
    sys.path = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).parent]
    package = importlib.import_module("slotwise")
    installed = Path(str(package.__file__)).parent
    if installed.resolve().is_relative_to(checkout):
        sys.exit(f"slotwise was imported from the checkout: {installed}")
    expected = shipped_files(checkout)
    present = {
        str(path.relative_to(installed)) for pattern in SHIPPED for path in installed.rglob(pattern)
    }
    if expected != present:
        missing, left_over = sorted(expected - present), sorted(present - expected)
        sys.exit(f"missing from the wheel: {missing}; in it but not in the checkout: {left_over}")
    for module in pkgutil.walk_packages(package.__path__, "slotwise."):
        importlib.import_module(module.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
