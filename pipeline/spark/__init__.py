"""Spark sessions, which are created only here, and the search for the Java they need.

Spark 4 runs on Java 17 and 21; `java` looks for one in a fixed order and reports what it found
instead. `masters` has the settings of each kind of master, `session` makes a quiet session on it,
gives Ctrl-C back to Python, and turns Spark's exceptions, and the way its Java ended, into errors
of one line. `pack` makes the archive that brings slotwise to executors. `scratch` stores tables
between two jobs as files, so that plans stay short; `paths` writes paths for Spark.

Start with `session`. It may import `models.errors` only; besides it, only
`benchmarks.grading.batch`, `benchmarks.grading.oracle`, `benchmarks.judged`, `slotwise.api`,
`pipeline.statistics`, `pipeline.following` and experiments import PySpark.
"""
