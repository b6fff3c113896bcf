"""The packages: those of the root folders bear the import name ``slotwise`` before their own."""

from setuptools import find_packages, setup

ROOT_FOLDERS = ("models", "heuristics", "solver", "pipeline", "benchmarks")

LABORATORY = ("experiments", "experiments.*")
"""Folders of ``benchmarks/`` that stay in the checkout: what only experiments use."""


def packages() -> list[str]:
    """Name every package; to be called in the folder of this file."""
    linked = [pattern for folder in ROOT_FOLDERS for pattern in (folder, f"{folder}.*")]
    own = find_packages("slotwise", exclude=linked)
    found = ["slotwise", *(f"slotwise.{name}" for name in own)]
    for folder in ROOT_FOLDERS:
        inner = find_packages(folder, exclude=LABORATORY if folder == "benchmarks" else ())
        found += [f"slotwise.{folder}", *(f"slotwise.{folder}.{name}" for name in inner)]
    return found


if __name__ == "__main__":
    setup(packages=packages())
