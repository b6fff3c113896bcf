"""Labels of methods: what a report calls them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from slotwise.benchmarks.grading.rows import Row, Subject, subject_of
from slotwise.models.errors import InputError

OPTION = "--methods"


def read_labels(texts: Iterable[str]) -> dict[str, str]:
    """Return label -> method from texts ``LABEL=METHOD``.

    Raises
    ------
    InputError
        For a text without a label or a method, and for a label or a method given twice.
    """
    labels: dict[str, str] = {}
    for text in texts:
        label, equals, method = (part.strip() for part in text.partition("="))
        if not (label and equals and method):
            raise InputError("must be LABEL=METHOD, such as mine=cmd:./x", field=OPTION, value=text)
        if label in labels:
            raise InputError(f"the label {label} is there twice", field=OPTION, value=text)
        if method in labels.values():
            raise InputError(f"the method {method} has a label already", field=OPTION, value=text)
        labels[label] = method
    return labels


def relabelled(rows: Sequence[Row], labels: Mapping[str, str]) -> list[Row]:
    """Return the rows with the methods of `labels` (label -> method) called by their label.

    Raises
    ------
    InputError
        For a method without rows, a label that another method of the rows has as its name, and a
        pair of allocation: a pair is known by its name.
    """
    methods = {row["method"] for row in rows}
    for label, method in labels.items():
        if method not in methods:
            graded = ", ".join(sorted(methods))
            raise InputError(f"has no rows here; graded are: {graded}", field=OPTION, value=method)
        if label in methods - set(labels.values()):
            raise InputError("is the name of another method here", field=OPTION, value=label)
        if Subject.ALLOCATION in (subject_of(method), subject_of(label)):
            raise InputError("pairs of allocation keep their name", field=OPTION, value=f"{label}={method}")
    names = {method: label for label, method in labels.items()}
    return [{**row, "method": names.get(row["method"], row["method"])} for row in rows]
