"""The only place where a Spark session is made, and the search for the Java it needs.

Spark 4 runs on Java 17 and 21; `java` looks for one in a fixed order and says what it found
instead (`java_launcher` is for the one that comes as a Python package). `session` makes a quiet
session on any master, gives Ctrl-C back to Python, and turns what Spark raises into errors of one
line.

Start with `session`. It may import `models.errors` only; besides it, only
`benchmarks.grading.batch`, `benchmarks.aggregation`, `benchmarks.statistics` and its experiment
import PySpark.
"""
