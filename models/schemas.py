"""The JSON Schemas of our files."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from slotwise.models.allocation.case import AllocationCaseFile
from slotwise.models.allocation.file import VmsFile
from slotwise.models.certificates.file import CertificateFile
from slotwise.models.dataflow.file import DataflowFile
from slotwise.models.formats.instance_schema import InstanceFile, PlacementFile, RefusalFile
from slotwise.models.formats.pools_file import PoolsFile
from slotwise.models.formats.running.advice_schema import AdviceFile
from slotwise.models.formats.running.plan_file import PlanFile
from slotwise.models.performance.file import ModelsFile

FILES: dict[str, type[BaseModel]] = {
    "instance": InstanceFile,
    "placement": PlacementFile,
    "refusal": RefusalFile,
    "plan": PlanFile,
    "certificate": CertificateFile,
    "pools": PoolsFile,
    "performance": ModelsFile,
    "dataflow": DataflowFile,
    "vms": VmsFile,
    "allocation-case": AllocationCaseFile,
    "advice": AdviceFile,
}
"""Name of a schema -> the shape of its file."""


def json_schemas() -> dict[str, Any]:
    """Return the JSON Schemas of the files by name."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {name: dialect | model.model_json_schema() for name, model in FILES.items()}
