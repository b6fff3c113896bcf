"""Every field of a certificate, changed one at a time: whatever changes its meaning is found."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES, Cli

from slotwise.models.certificates import (
    Certificate,
    certificate_document,
    certificate_from_data,
    findings,
)
from slotwise.models.errors import InputError
from slotwise.models.formats.json_text import parse_json, pretty_json
from slotwise.models.instance.instance import Instance
from slotwise.models.instance_file import read_instance
from slotwise.models.problem.compile import compile_problem
from slotwise.solver.solve import solve
from slotwise.solver.verification.certify import certificate_of

NOT_RECOMPUTED = re.compile(
    r"digest = |made_by|proofs = |proofs\[\d\]\.(engine|version|how|parameters\..*) = "
)
"""What a forger can change: who asserts the bounds is a matter of trust, with a digest or not."""

SAME_COST = re.compile(r"placement\.wc\.\w+\[\d\]\.worker = \d+$")
"""Another label may be the same placement, or one that costs the same."""

WEAKER = re.compile(
    r"objective\[1\]\.bound = (None|0|5|Decimal\('1[09]'\))$"
    r"|proofs\[0\]\.bounds\[1\] = Decimal\('21'\)$"
)
"""A bound of less than the engine asserts is a claim of its own, and a true one."""


@cache
def certified(kind: str) -> tuple[Instance, Certificate]:
    """Return an instance with a certificate: optimal, feasible or infeasible."""
    name = "too-big.json" if kind == "infeasible" else "word-count.json"
    instance = read_instance(EXAMPLES / name)
    problem = compile_problem(instance)
    certificate = certificate_of(problem, solve(problem, engine="configurations"))
    if kind == "feasible":
        bounds = (Fraction(0), Fraction(20))
        overload, network = certificate.objective
        certificate = replace(
            certificate,
            status="feasible",
            objective=(overload, replace(network, bound=bounds[1])),
            proofs=tuple(replace(proof, bounds=bounds) for proof in certificate.proofs),
        )
    assert certificate.status == kind
    return instance, certificate


KINDS = ("optimal", "feasible", "infeasible")


def paths(data: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield path, holder and key of everything in `data`."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        here = f"{path}[{key}]" if isinstance(data, list) else f"{path}.{key}".lstrip(".")
        yield here, data, key
        if isinstance(value, dict | list):
            yield from paths(value, here)


def others(value: Any) -> Iterator[Any]:
    """Yield values that could stand in the place of `value`."""
    yield from (value for value in (None, 0, 5, "x", [], {}, True))
    if isinstance(value, str):
        yield from ("", value + "x", value[:-1], value.upper(), *KINDS)
    elif isinstance(value, list):
        yield from (value[:-1], value[1:], [*value, *value[-1:]], value[::-1])
    elif isinstance(value, dict):
        yield from ({key: value[key] for key in value if key != left} for left in value)
        yield {**value, "more": 1}
    elif value is not None and not isinstance(value, bool):
        yield from (value + 1, value - 1, value / 2, -value, 10**90)


def mutations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what changed, and `document` with one thing replaced or left out."""
    for place, (path, holder, key) in enumerate(paths(document)):
        for other in others(holder[key]):
            if other != holder[key] or isinstance(other, bool) != isinstance(holder[key], bool):
                yield (
                    f"{path} = {other!r}",
                    _changed(document, place, lambda h, k, o=other: _set(h, k, o)),
                )
        if isinstance(holder, dict):
            yield f"{path} left out", _changed(document, place, lambda h, k: h.pop(k))


def _set(holder: Any, key: Any, value: Any) -> None:
    holder[key] = value


def _changed(document: Any, place: int, change: Callable[[Any, Any], object]) -> dict[str, Any]:
    copied: dict[str, Any] = copy.deepcopy(document)
    _, holder, key = list(paths(copied))[place]
    change(holder, key)
    return copied


def passes(instance: Instance, document: dict[str, Any], *, forged: bool) -> bool:
    """Say whether a document is taken as a sound certificate; `forged` = with a fresh digest."""
    try:
        certificate = certificate_from_data(parse_json(pretty_json(document)))
        if forged:
            certificate = replace(certificate, digest=None)
        return not findings(instance, certificate)
    except InputError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_change_passes(kind: str) -> None:
    instance, certificate = certified(kind)
    document = certificate_document(certificate)
    assert passes(instance, document, forged=False)
    passed = [
        what for what, changed in mutations(document) if passes(instance, changed, forged=False)
    ]
    assert passed == []
    assert sum(1 for _ in mutations(document)) > 200


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_forger_changes_no_fact(kind: str) -> None:
    """With the digest made anew, what can be recomputed or contradicts itself is still found."""
    instance, certificate = certified(kind)
    document = certificate_document(certificate)
    passed = {
        what for what, changed in mutations(document) if passes(instance, changed, forged=True)
    }
    allowed = [NOT_RECOMPUTED, SAME_COST, *([WEAKER] if kind == "feasible" else [])]
    assert [what for what in passed if not any(one.match(what) for one in allowed)] == []


def test_spelling_is_no_change() -> None:
    instance, certificate = certified("optimal")
    text = pretty_json(certificate_document(certificate)).replace('"bound": 23', '"bound": 23.0e0')
    assert "23.0e0" in text
    read = certificate_from_data(dict(reversed(parse_json(text).items())))
    assert findings(instance, read) == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d["objective"][0].update(bound=0),
            "bound of overload: 0, but no placement to have it",
        ),
        (
            lambda d: d["objective"][1].update(value=3),
            "value of network: 3, but no placement to have it",
        ),
        (
            lambda d: d["proofs"][0].update(bounds=[5, None]),
            "proofs[0].bounds: configurations bounds what has no placement",
        ),
    ],
)
def test_bounds_of_an_infeasible_instance(change: Callable[[Any], object], message: str) -> None:
    instance, certificate = certified("infeasible")
    document = json.loads(pretty_json(certificate_document(certificate)))
    change(document)
    read = certificate_from_data(document)
    changed = "digest: something was changed after the certificate was written"
    assert findings(instance, read) == (changed, message)


def test_a_bound_after_an_open_term_is_found() -> None:
    instance, certificate = certified("feasible")
    overload, network = certificate.objective
    first = replace(overload, bound=None)
    wrong = findings(instance, replace(certificate, objective=(first, network)))
    assert wrong == ("bound of network: 20, but a term before is not proven",)


@pytest.mark.parametrize("number", ["1e5000", "1e9999999", "1e99999999999999999999", "9" * 5000])
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_outsized_numbers_are_refused_at_once(
    examples: Path, cli: Cli, number: str, suffix: str
) -> None:
    _, certificate = certified("optimal")
    text = pretty_json(certificate_document(certificate))
    for old, field in (('"bound": 23', "objective[1].bound"), ('"seed": 0', "parameters.seed")):
        assert old in text
        path = Path(f"c.{suffix}")
        path.write_text(text.replace(old, f"{old.partition(':')[0]}: {number}", 1))
        answer = cli("verify", "word-count.json", path)
        assert (answer.code, answer.out) == (2, "")
        assert f"{field} = " in answer.err
        assert "must be at most 100 digits long" in answer.err
        assert answer.err.count("\n") == 1
