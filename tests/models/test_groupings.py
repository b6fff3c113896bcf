"""Storm's groupings in every spelling that its files and code have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_storm_cluster import SMALL

from slotwise.models.errors import InputError
from slotwise.models.instance.topology import GROUPINGS, Stream
from slotwise.models.instance_file import instance_from_data, instance_text

SPELLINGS = {
    "localOrShuffle": "local_or_shuffle",
    "localOrShuffleGrouping": "local_or_shuffle",
    "LOCAL_OR_SHUFFLE": "local_or_shuffle",
    ":local-or-shuffle": "local_or_shuffle",
    "SHUFFLE": "shuffle",
    "fieldsGrouping": "fields",
    "Global": "global",
    "custom_serialized": "custom",
    "customObject": "custom",
    "partialKeyGrouping": "custom",
    **{one: one for one in GROUPINGS},
}


@pytest.mark.parametrize(("written", "read"), SPELLINGS.items())
def test_a_spelling_is_read_in_instance_files_and_storm_clusters(
    written: str, read: str, examples: Path
) -> None:
    ours = json.loads((examples / "rates.json").read_text("utf-8"))
    storm = json.loads(json.dumps(SMALL))
    ours["topologies"][0]["streams"][0]["grouping"] = written
    storm["topologies"][0]["components"][1]["inputs"][0]["grouping"] = written
    for document in (ours, storm):
        instance = instance_from_data(document)
        assert instance.topologies[0].streams[0].grouping == read
        assert f'"grouping": "{read}"' in instance_text(instance) or read == "shuffle"


@pytest.mark.parametrize("written", ["", "grouping", "local", "shuffle2"])
def test_what_is_no_grouping_is_refused(written: str) -> None:
    with pytest.raises(InputError, match="must be one of shuffle, local_or_shuffle"):
        Stream("a", "b", written)
