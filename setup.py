"""The packages: those of the root folders bear the import name ``slotwise`` before their own."""

from setuptools import find_packages, setup

ROOT_FOLDERS = ("models", "heuristics", "solver", "benchmarks")

setup(
    packages=[
        "slotwise",
        *(f"slotwise.{name}" for name in find_packages("slotwise", include=["cli*", "testing*"])),
        *(f"slotwise.{folder}" for folder in ROOT_FOLDERS),
        *(
            f"slotwise.{folder}.{name}"
            for folder in ROOT_FOLDERS
            for name in find_packages(folder, exclude=["storm_peer*"])
        ),
    ],
)
