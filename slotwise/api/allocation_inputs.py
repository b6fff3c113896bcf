"""The inputs of `allocate` in all their forms: dataflows, rates, performance models, VM sizes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from slotwise.api.inputs import TEXT, Source, is_text
from slotwise.api.paths import path_of
from slotwise.api.plain_data import plain_data
from slotwise.models.allocation.case import read_vm_sizes, vm_sizes_from_data
from slotwise.models.allocation.plan import DEFAULT_SIZES, VmSize
from slotwise.models.dataflow import Dataflow, dataflow_from_data, read_dataflow
from slotwise.models.display import kind_of
from slotwise.models.errors import InputError, in_file, suggestion
from slotwise.models.formats.text import parse_text
from slotwise.models.micro_dags import MICRO_DAGS
from slotwise.models.performance.file import article_models, models_from_data
from slotwise.models.performance.file import read_models as read_models_file
from slotwise.models.performance.model import Models, PerformanceModel
from slotwise.models.values import exact

MOST_RATES = 1000

DataflowLike = Dataflow | Source
ModelsLike = Mapping[str, PerformanceModel] | Source | None
VmsLike = Sequence[VmSize] | Source | None


def as_dataflow(given: DataflowLike) -> Dataflow:
    """Return a dataflow: itself, a micro DAG by its name, or from a path, a dict or text.

    Raises
    ------
    InputError
        For anything else.
    """
    if isinstance(given, Dataflow):
        return given
    if isinstance(given, str) and given in MICRO_DAGS:
        return MICRO_DAGS[given]
    if isinstance(given, Mapping) or is_text(given):
        return dataflow_from_data(_data(given))
    source = path_of(given, "dag", "a path, a dict, text or a Dataflow")
    is_file = str(source) == "-" or Path(source).suffix or Path(source).exists()
    if not is_file:
        rule = f"is neither a file nor a micro DAG; {suggestion(str(source), MICRO_DAGS)}"
        raise InputError(rule, field="dag", value=str(source))
    return read_dataflow(source)


def as_models(given: ModelsLike) -> Models:
    """Return performance models: themselves, or from a path, a dict or text.

    ``None`` = those of the SAM article.
    """
    if given is None:
        return article_models()
    if isinstance(given, Mapping):
        models = {name: one for name, one in given.items() if isinstance(one, PerformanceModel)}
        if given and len(models) == len(given):
            return models
    if isinstance(given, Mapping) or is_text(given):
        return models_from_data(_data(given))
    return read_models_file(path_of(given, "models"))


def as_vm_sizes(given: VmsLike) -> tuple[VmSize, ...]:
    """Return sizes of VMs: themselves, or from a path, a dict or text.

    ``None`` = D1 to D4 of the SAM article.
    """
    if given is None:
        return DEFAULT_SIZES
    if isinstance(given, Mapping) or is_text(given):
        return vm_sizes_from_data(_data(given))
    if isinstance(given, str | os.PathLike):
        return read_vm_sizes(path_of(given, "vms"))
    sizes: object = given
    if not isinstance(sizes, Sequence):
        rule = f"must be a path, a dict, text or VM sizes, not {kind_of(sizes)}"
        raise InputError(rule, field="vms", has_value=False)
    for index, one in enumerate(given):
        if not isinstance(one, VmSize):
            raise InputError("must be a VmSize", field=f"vms[{index}]", value=str(one))
    return tuple(given)


def _data(given: object) -> Any:
    if isinstance(given, Mapping):
        return plain_data(given)
    with in_file(TEXT):
        return parse_text(str(given))


def as_rates(given: object) -> list[Fraction]:
    """Return the rates in `given`, each once; ``None`` = no rates.

    Parameters
    ----------
    given
        A number, a text ``R`` or ``FROM:TO:STEP`` (both ends included), or several of these.

    Raises
    ------
    InputError
        For a rate that is not an exact decimal above 0, and for more than `MOST_RATES`.

    Examples
    --------
    >>> [int(rate) for rate in as_rates("100:300:100")]
    [100, 200, 300]
    """
    if given is None:
        return []
    several = given if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    rates: list[Fraction] = []
    for one in several:
        rates += _range(one) if isinstance(one, str) else [_rate(one, one)]
        if len(rates) > MOST_RATES:
            raise InputError(f"are more than {MOST_RATES} rates", field="rate", value=one)
    return list(dict.fromkeys(rates))


def _range(text: str) -> list[Fraction]:
    parts = [_rate(part, text) for part in text.split(":")]
    if len(parts) == 1:
        return parts
    if len(parts) != 3 or parts[0] > parts[1]:
        rule = "must be a rate, or FROM:TO:STEP with FROM at most TO"
        raise InputError(rule, field="rate", value=text)
    first, last, step = parts
    count = int((last - first) / step) + 1
    if count > MOST_RATES:
        raise InputError(f"are more than {MOST_RATES} rates", field="rate", value=text)
    return [first + k * step for k in range(count)]


def _rate(part: Any, written: object) -> Fraction:
    if isinstance(part, Fraction):
        rate = part
    else:
        try:
            rate = Fraction(exact(part, "rate"))
        except InputError as error:
            rule = error.rule.partition(";")[0]
            raise InputError(rule, field="rate", value=written) from error
    if rate <= 0:
        raise InputError("must be above 0 tuples/s", field="rate", value=written)
    return rate
