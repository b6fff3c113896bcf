"""Labels of methods on a page: ``mine=cmd:./place`` calls ``cmd:./place`` ``mine``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from slotwise.models.errors import InputError, suggestion

OPTION = "--methods"


def parse_labels(written: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    """Return method -> label from texts ``LABEL=METHOD``, or from a mapping of labels to methods.

    Raises
    ------
    InputError
        For a text without label or method, and for two labels of one method.
    """
    pairs = written.items() if isinstance(written, Mapping) else map(_pair, written)
    labels: dict[str, str] = {}
    for label, method in pairs:
        if method in labels:
            raise InputError("has two labels", field=OPTION, value=method)
        labels[method] = label
    return labels


def _pair(text: str) -> tuple[str, str]:
    label, _, method = (part.strip() for part in text.partition("="))
    # A method's parameters have "=" too, but only behind a colon.
    if not label or not method or ":" in label:
        raise InputError("must be LABEL=METHOD", field=OPTION, value=text)
    return label, method


def check_labels(labels: Mapping[str, str], methods: Iterable[str]) -> None:
    """Refuse a label for none of `methods`, and two of them by one name.

    Raises
    ------
    InputError
        Naming the method or the label.
    """
    method_names = set(methods)
    for method in labels:
        if method not in method_names:
            rule = f"was not graded; {suggestion(method, sorted(method_names))}"
            raise InputError(rule, field=OPTION, value=method)
    names = Counter(label_of(method, labels) for method in method_names)
    for label in labels.values():
        if names[label] > 1:
            raise InputError("would be the name of two methods", field=OPTION, value=label)


def label_of(method: str, labels: Mapping[str, str]) -> str:
    """Return what a method is called: its label, or its name."""
    return labels.get(method, method)
