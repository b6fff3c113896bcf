"""Place the tasks of stream processors on machines: solve, judge and grade placements.

This is the public interface; the packages behind it are `models` (the problem and its judge),
`heuristics` (published methods), `solver` (exact engines), `benchmarks` (grading, experiments),
`testing` (random instances) and `cli` (the command line). Start with `models`. Names are loaded
when they are first used, so that ``import slotwise`` costs nothing:

>>> import slotwise
>>> instance = slotwise.read_instance("word-count.json")  # doctest: +SKIP
>>> result = slotwise.solve(instance)  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from slotwise.heuristics.method_error import MethodError
    from slotwise.heuristics.registry import place
    from slotwise.models.certificates.certificate import Certificate
    from slotwise.models.certificates.file import read_certificate, write_certificate
    from slotwise.models.errors import InputError, InternalError, SlotwiseError
    from slotwise.models.formats.placement_file import read_placement, write_placement
    from slotwise.models.instance.instance import Instance
    from slotwise.models.instance.placement import Placement, Refusal
    from slotwise.models.instance_file import read_instance, write_instance
    from slotwise.models.judge.judge import judge
    from slotwise.models.judge.verdict import Verdict, Violation
    from slotwise.solver.core.result import Result, Status
    from slotwise.solver.solve import solve
    from slotwise.solver.verification.verify import certify, verify

__all__ = [
    "Certificate",
    "InputError",
    "Instance",
    "InternalError",
    "MethodError",
    "Placement",
    "Refusal",
    "Result",
    "SlotwiseError",
    "Status",
    "Verdict",
    "Violation",
    "__version__",
    "certify",
    "judge",
    "place",
    "read_certificate",
    "read_instance",
    "read_placement",
    "solve",
    "verify",
    "write_certificate",
    "write_instance",
    "write_placement",
]

_HOME = {
    "Certificate": "slotwise.models.certificates.certificate",
    "InputError": "slotwise.models.errors",
    "Instance": "slotwise.models.instance.instance",
    "InternalError": "slotwise.models.errors",
    "MethodError": "slotwise.heuristics.method_error",
    "Placement": "slotwise.models.instance.placement",
    "Refusal": "slotwise.models.instance.placement",
    "Result": "slotwise.solver.core.result",
    "SlotwiseError": "slotwise.models.errors",
    "Status": "slotwise.solver.core.result",
    "Verdict": "slotwise.models.judge.verdict",
    "Violation": "slotwise.models.judge.verdict",
    "certify": "slotwise.solver.verification.verify",
    "judge": "slotwise.models.judge.judge",
    "place": "slotwise.heuristics.registry",
    "read_certificate": "slotwise.models.certificates.file",
    "read_instance": "slotwise.models.instance_file",
    "read_placement": "slotwise.models.formats.placement_file",
    "solve": "slotwise.solver.solve",
    "verify": "slotwise.solver.verification.verify",
    "write_certificate": "slotwise.models.certificates.file",
    "write_instance": "slotwise.models.instance_file",
    "write_placement": "slotwise.models.formats.placement_file",
}
"""Public name -> module that defines it."""


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
