"""Where tasks run now, from what users hand in: also a placement of a cluster with more nodes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from slotwise.api.inputs import TEXT, PlacementLike, is_text, path_of
from slotwise.api.plain_data import plain_data
from slotwise.models.errors import in_file
from slotwise.models.formats.given_placement import (
    given_placement_from_data,
    is_answer,
    of_larger_cluster,
)
from slotwise.models.formats.text import parse_text, read_data
from slotwise.models.instance.instance import Instance, Running
from slotwise.models.instance.placement import Placement, places_from_data, to_places


def as_running_places(given: PlacementLike, instance: Instance) -> Running:
    """Return where `given` says that tasks run, by names.

    Parameters
    ----------
    given
        As in `read_placement`, or a placement of a cluster with more nodes than the instance's.

    Raises
    ------
    InputError
        One line: file, field, value, rule.
    """
    if isinstance(given, Placement):
        return to_places(instance, given)
    if isinstance(given, Mapping):
        data, file = plain_data(given), ""
        is_file = isinstance(data.get("format"), str) or isinstance(data.get("refused"), str)
        if not (is_file or is_answer(data)):
            return places_from_data(data)
    elif is_text(given):
        file = TEXT
        with in_file(TEXT):
            data = parse_text(str(given))
    else:
        data, file = read_data(path_of(given, "placement", "a path, a dict, text or a Placement"))
    with in_file(file):
        data, larger = of_larger_cluster(data, instance)
        read = given_placement_from_data(data, larger)
    if read.note is not None and larger is instance:
        warnings.warn(f"{file}: {read.note}" if file else read.note, UserWarning, stacklevel=3)
    return to_places(larger, read.placement)
