"""The JSON Schemas of our files."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import MISSING, fields
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import DataclassSchema

from slotwise.models.allocation.case import AllocationCase, VmsFile
from slotwise.models.certificates import Certificate
from slotwise.models.dataflow import Dataflow
from slotwise.models.formats.advice_schema import AdviceFile
from slotwise.models.formats.json_text import canonical_json
from slotwise.models.formats.placement_file import PlacementFile, RefusalFile
from slotwise.models.formats.plan_file import PlanFile
from slotwise.models.formats.pools_file import PoolsFile
from slotwise.models.formats.validation import adapter
from slotwise.models.instance.instance import Instance
from slotwise.models.nouns import document, key_of, keys_of
from slotwise.models.performance.file import ModelsFile
from slotwise.models.prediction.assumptions import Assumptions

FILES: dict[str, type] = {
    "instance": Instance,
    "placement": PlacementFile,
    "refusal": RefusalFile,
    "plan": PlanFile,
    "certificate": Certificate,
    "pools": PoolsFile,
    "performance": ModelsFile,
    "dataflow": Dataflow,
    "vms": VmsFile,
    "allocation-case": AllocationCase,
    "advice": AdviceFile,
    "assumptions": Assumptions,
}
"""Name of a schema -> the shape of its file."""


class _NounSchema(GenerateJsonSchema):
    """Adds to a noun's schema its ``format``, and the texts of its docstring."""

    def dataclass_schema(self, schema: DataclassSchema) -> JsonSchemaValue:
        noun = schema["cls"]
        made = super().dataclass_schema(schema)
        summary, texts = _docstring(noun)
        properties = made["properties"]
        needed = keys_of(noun)
        for field in fields(noun):
            key = properties[key_of(field)]
            if field.name in texts:
                key["description"] = texts[field.name]
            if needed[key_of(field)]:
                key.pop("default", None)
            elif field.default_factory is not MISSING:
                key["default"] = self.encode_default(field.default_factory())
        if noun.FORMAT is not None:
            names = {"const": noun.FORMAT, "description": "Names this format.", "type": "string"}
            properties = {"format": names} | properties
        return made | {
            "description": summary,
            "properties": properties,
            "required": [key for key, must in needed.items() if must],
            "additionalProperties": noun.OTHERS,
        }

    def encode_default(self, dft: Any) -> Any:
        return json.loads(canonical_json(document(dft)))


def _docstring(noun: type) -> tuple[str, dict[str, str]]:
    """Return the first paragraph, and parameter -> text, as for readers of files."""
    text = (inspect.getdoc(noun) or "").replace("``None``", "null").replace("``", "`")
    head, _, rest = text.partition("Parameters\n----------\n")
    section = re.split(r"\n\n(?=\S)", rest)[0]
    entries = re.findall(r"^(\w+)\n((?:    .*\n?)+)", section, flags=re.MULTILINE)
    texts = {name: " ".join(lines.split()) for name, lines in entries}
    return " ".join(head.split("\n\n")[0].split()), texts


def json_schemas() -> dict[str, Any]:
    """Return the JSON Schemas of the files by name."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        name: dialect | adapter(shape).json_schema(schema_generator=_NounSchema)
        for name, shape in FILES.items()
    }
