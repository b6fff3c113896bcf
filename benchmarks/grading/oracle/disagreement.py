"""Stopping a batch where two rows cannot both be right, with a certificate of each saved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slotwise.benchmarks.grading.batch.cases import KEPT
from slotwise.benchmarks.grading.batch.folder import read
from slotwise.benchmarks.grading.batch.runs import is_any
from slotwise.benchmarks.grading.oracle.standing_rows import ANSWERED, standing_rows
from slotwise.benchmarks.grading.proofs import read_proofs
from slotwise.benchmarks.grading.rows import (
    EXACT_KINDS,
    KEY,
    SUCCEEDED,
    RunStatus,
    read_placement_text,
)
from slotwise.benchmarks.grading.store import INSTANCES, local_folder
from slotwise.models.certificates import (
    Certificate,
    CertifiedProof,
    CertifiedTerm,
    certificate_document,
    write_certificate,
)
from slotwise.models.errors import InternalError
from slotwise.models.formats.json_text import canonical_json
from slotwise.models.instance.instance import Instance
from slotwise.models.instance.placement import to_places
from slotwise.models.instance_file import instance_from_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOLDER = "disagreements"


class DisagreementError(InternalError):
    """Two rows of a grading contradict each other."""


def stop_where_rows_disagree(
    spark: SparkSession, address: str, plan: DataFrame, rows: DataFrame
) -> None:
    """Save the certificates of the first two rows that contradict each other, if there are any.

    Raises
    ------
    DisagreementError
        Naming instance, engines, numbers and files.
    """
    contradiction = contradictions(plan, rows).first()
    if contradiction is None:
        return
    proof, placed = contradiction["proof"].asDict(True), contradiction["placed"].asDict(True)
    instances = read(spark, address, INSTANCES, KEPT)
    text = (
        instances.where(instances["instance_hash"] == proof["instance_hash"]).select("text").first()
    )
    assert text is not None, "a batch keeps the text of its instances"
    instance = instance_from_text(text["text"])
    files = [_save(spark, address, instance, row) for row in (proof, placed)]
    raise DisagreementError(sentence(proof, placed, files))


def sentence(proof: Mapping[str, Any], placed: Mapping[str, Any], files: list[str]) -> str:
    """Return what contradicts what, and where it was saved."""
    first, second = _who(proof), _who(placed)
    return (
        f"{proof['instance']}: {first} {_claim(proof, placed)} that {second} found; one of them is "
        f"wrong, and the batch was stopped; certificates are in {files[0]} and {files[1]}"
    )


def _who(row: Mapping[str, Any]) -> str:
    engine = (row["engine"] or "").partition(" ")[0]
    return f"{row['kind']} run of {engine or row['method']}"


def _claim(proof: Mapping[str, Any], placed: Mapping[str, Any]) -> str:
    values = ", ".join(f"{term['term']} {term['value']}" for term in placed["terms"])
    if proof["status"] == RunStatus.INFEASIBLE:
        return f"proved that there is no placement, against the one with {values}"
    bounds = ", ".join(
        f"{term['term']} {term['bound']}" for term in proof["terms"] if term["bound"] is not None
    )
    return f"proved the bound {bounds}, above the {values}"


def certificate_of_row(instance: Instance, row: Mapping[str, Any]) -> Certificate:
    """Return what a row claims as a certificate; a method's claims no bound."""
    infeasible = row["status"] == RunStatus.INFEASIBLE
    terms = tuple(
        CertifiedTerm(t["term"], _number(t["value"]), None if infeasible else _number(t["bound"]))
        for t in row["terms"]
    )
    placed = None if infeasible else read_placement_text(row["placement"])
    return Certificate(
        instance=row["instance_hash"],
        status="feasible" if row["status"] == RunStatus.VALID else row["status"],
        made_by=f"slotwise {version('slotwise')}",
        objective=terms,
        proofs=read_proofs(row["proofs"]) if row["proofs"] else (_of_method(row),),
        places=None if placed is None else to_places(instance, placed),
    )


def _of_method(row: Mapping[str, Any]) -> CertifiedProof:
    return CertifiedProof(
        engine=row["method"],
        version=row["version"],
        time_limit_s=Fraction(str(row["time_limit_s"])),
        workers=row["workers"],
        seed=row["seed"],
        how="a method's placement: no bound",
        bounds=(None,) * len(row["terms"]),
    )


def _number(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _save(spark: SparkSession, address: str, instance: Instance, row: Mapping[str, Any]) -> str:
    """Write the certificate of a row into the folder; return where it is."""
    certificate = certificate_of_row(instance, row)
    short = row["instance_hash"].removeprefix("sha256:")[:12]
    name = re.sub(r"[^\w.-]+", "-", f"{short}-{row['kind']}-{row['method']}")
    folder = local_folder(address)
    if folder is None:
        place = f"{address}/{FOLDER}/{name}"
        document = canonical_json(certificate_document(certificate))
        frame = spark.createDataFrame([(document,)], "value string").coalesce(1)
        frame.write.mode("overwrite").text(place)
        return place
    path = Path(folder, FOLDER, f"{name}.json")
    path.parent.mkdir(exist_ok=True)
    write_certificate(path, certificate)
    return str(path)


def contradictions(plan: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the pairs ``proof``, ``placed`` of rows of an instance that contradict each other.

    A valid placement of any run is below a proven bound, all terms before at their optima, or the
    proof says that there is none. Two different proven optima are such a pair: the smaller value is
    below the other's bound.
    """
    from pyspark.sql import functions as fn

    ours = standing_rows(plan, rows)
    whole = fn.struct(*KEY, *(name for name in ours.columns if name not in KEY))
    proofs = ours.where(is_any("kind", EXACT_KINDS) & is_any("status", ANSWERED))
    placed = ours.where(is_any("status", SUCCEEDED))
    pairs = proofs.select("instance_hash", whole.alias("proof")).join(
        placed.select("instance_hash", whole.alias("placed")), "instance_hash"
    )
    bounds, values = fn.col("proof.bounds"), fn.col("placed.values")
    below = (fn.size(bounds) > 0) & (fn.slice(values, 1, fn.size(bounds)) < bounds)
    none = fn.col("proof.status") == str(RunStatus.INFEASIBLE)
    order = ("proof.instance", "proof.kind", "placed.kind", "placed.method")
    return pairs.where(none | below).orderBy(*order)
