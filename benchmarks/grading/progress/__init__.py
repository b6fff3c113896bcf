"""Progress: what the driver reports about a grading while it runs.

Finished runs are counted and the time left is estimated (`tally`), shown on stderr as a bar or as
lines (`display`), and written one by one to a file of JSON lines (`run_log`). The driver learns of
them from the files of rows that appear in the folder (`batch.arrivals`).

Start with `watching`, then `tally`. Of `benchmarks.grading` it may import `rows` alone;
`benchmarks.grade` and `benchmarks.grading.batch` import it, and other commands on Spark `display`.
"""
