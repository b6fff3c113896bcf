"""Sources of lines: files as they appear in a folder, or a topic of Kafka."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slotwise.models.errors import InputError, SlotwiseError
from slotwise.pipeline.spark.paths import literal
from slotwise.pipeline.statistics.manifest import log_files
from slotwise.pipeline.statistics.reading import JSON_FILES, STORM_FILES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13"
"""Spark's connector; its version is that of Spark."""


@dataclass(frozen=True, slots=True)
class LogFolder:
    """Files of logs in a folder and below it; each is read once, when it is first seen.

    Parameters
    ----------
    folder
        LOGS, as in ``slotwise measure``.
    files_per_batch
        Most new files of a batch, 1 or more.
    left_out
        Files that cannot be read; they are not opened.
    """

    folder: Path
    files_per_batch: int = 1000
    left_out: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return its description in a checkpoint; another source does not continue the stream."""
        return f"folder {self.folder.resolve()}"

    def lines(self, spark: SparkSession) -> DataFrame:
        """Return `RAW` as a stream.

        Raises
        ------
        InputError
            When there is no such folder.
        """
        from pyspark.sql import functions as fn

        from slotwise.pipeline.statistics.unreadable import file_of

        if not self.folder.is_dir():
            rule = "must be a folder; give the one that logs appear in"
            raise InputError(rule, field="logs", value=str(self.folder))
        reader = spark.readStream.option("recursiveFileLookup", "true")
        reader = reader.option("pathGlobFilter", f"{{{STORM_FILES},{JSON_FILES}}}")
        reader = reader.option("maxFilesPerTrigger", self.files_per_batch)
        # Else Spark passes over files that are a week older than the newest one that it has read.
        reader = reader.option("maxFileAge", "36500d")
        text = reader.text(literal(self.folder.resolve()))
        path = fn.col("_metadata.file_path")
        if self.left_out:  # a condition on the path alone, so that Spark does not open the file
            text = text.where(~file_of(path).isin(*self.left_out))
        return text.select(fn.col("value").alias("line"), path.alias("path"))

    def unreadable(self) -> dict[str, str]:
        """Return path -> what is wrong with it, of the files that cannot be read."""
        from slotwise.pipeline.statistics.unreadable import unreadable

        return unreadable(path for path, _ in log_files(self.folder))


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic of Kafka: a record's value is a line, its key the path of the log it is from, if any.

    Parameters
    ----------
    servers
        ``HOST:PORT``, several separated by commas.
    topic
        Name of the topic; read from its beginning.
    records_per_batch
        Most records of a batch, 1 or more. A trigger reads one batch at most: with a million,
        triggers of 30 s would never read more than 33,000 lines a second.
    """

    servers: str
    topic: str
    records_per_batch: int = 3_000_000

    def describe(self) -> str:
        """Return its description in a checkpoint; another source does not continue the stream."""
        return f"Kafka topic {self.topic}"

    def lines(self, spark: SparkSession) -> DataFrame:
        """Return `RAW` as a stream.

        Raises
        ------
        SlotwiseError
            When Spark has no connector to Kafka.
        """
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as fn

        reader = spark.readStream.format("kafka").option("subscribe", self.topic)
        reader = reader.option("kafka.bootstrap.servers", self.servers)
        reader = reader.option("startingOffsets", "earliest").option("failOnDataLoss", "true")
        try:
            records = reader.option("maxOffsetsPerTrigger", self.records_per_batch).load()
        except AnalysisException as error:
            raise SlotwiseError(
                f"Spark {spark.version} has no connector to Kafka: give the jars of "
                f"{KAFKA}:{spark.version} and of what it needs with --jars"
            ) from error
        return records.select(
            fn.col("value").cast("string").alias("line"),
            fn.coalesce(fn.col("key").cast("string"), fn.lit(f"kafka/{self.topic}")).alias("path"),
        )


Source = LogFolder | KafkaTopic

_KAFKA_URL = re.compile(r"kafka://([^/\s]+:\d+(?:,[^/\s]+:\d+)*)/([\w.-]+)")


def source_of(logs: str) -> Source:
    """Return the source named by ``LOGS``: a folder, or ``kafka://HOST:PORT[,HOST:PORT]/TOPIC``.

    Raises
    ------
    InputError
        When it begins like the address of a topic but is not one.
    """
    if not logs.startswith("kafka:"):
        return LogFolder(Path(logs))
    match = _KAFKA_URL.fullmatch(logs)
    if match is None:
        rule = "must be kafka://HOST:PORT[,HOST:PORT]/TOPIC"
        raise InputError(rule, field="logs", value=logs)
    return KafkaTopic(match[1], match[2])
