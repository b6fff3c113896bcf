"""The Jinja templates of the pages."""

from __future__ import annotations

from jinja2 import Template

from slotwise.benchmarks.report import text as report_data
from slotwise.benchmarks.report.figures.drawing.colours import ROLES
from slotwise.benchmarks.report.viewer.view import new_environment
from slotwise.models.display import counted


def template(name: str) -> Template:
    """Return a template of this package; what it inserts is escaped."""
    environment = new_environment()
    environment.filters |= {
        "counted": counted,
        "name": report_data.whole_name,
        "number": report_data.number,
        "short": report_data.short,
        "pairs": report_data.pairs,
    }
    environment.globals["roles"] = tuple(ROLES.values())
    return environment.get_template(name)
