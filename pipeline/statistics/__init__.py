"""Measured weights from the metric logs of a running cluster, on Spark.

That is the StatisticServer of R-Storm and the monitor of StroMAX.
Lines of Storm's LoggingMetricsConsumer or JSON become samples, one number a row, and faulty lines
go to a quarantine with the reason. Every step is a function DataFrame -> DataFrame of native column
expressions, the same for files and streams; `run` keeps their results as tables in a folder.

`weights` turns samples into an instance with measured weights.

Start with `schema`. It may import `models` and `pipeline.spark`.
"""
