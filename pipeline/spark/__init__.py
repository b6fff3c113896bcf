"""The only place where a Spark session is made, and the search for the Java it needs.

Spark 4 runs on Java 17 and 21; `java` looks for one in a fixed order and says what it found
instead. `masters` knows the settings of each kind of master, `session` makes a quiet session on it,
gives Ctrl-C back to Python, and turns what Spark raises, and how its Java ended, into errors of one
line. `pack` makes the archive by which executors get slotwise. `scratch` keeps tables between two
jobs as files, so that plans stay short; `paths` writes paths for Spark.

Start with `session`. It may import `models.errors` only; besides it, only
`benchmarks.grading.batch`, `benchmarks.grading.oracle`, `benchmarks.aggregation`,
`pipeline.statistics`, `pipeline.following` and experiments import PySpark.
"""
