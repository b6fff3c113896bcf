"""Grading: one run is one row, whatever happens to the run.

Which runs are there (`sources`, `plan`), how does each end as a row (`run`, inside the processes of
`children`: a crash or a timeout is a row), how are chunks of runs spread over executors
(`spark_job`), and where do rows go (`store`: Parquet; runs that have a row are
skipped)? `rows` names every column; `row_check` checks files from unknown sources, `old_rows`
reads those of older versions.

Start with `rows`, then `plan`. It may import `models`, `heuristics` and `solver`; Spark in
`spark_job` alone.
"""
