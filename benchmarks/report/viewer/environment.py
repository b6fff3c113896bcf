"""Where the templates of the pages are, and how they are filled."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def new_environment() -> Environment:
    """Return the templates of `benchmarks.report`.

    What they insert is escaped, and a name that they are not given is an error.
    """
    return Environment(
        loader=PackageLoader("slotwise.benchmarks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
