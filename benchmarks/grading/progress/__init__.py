"""Progress: what the driver tells of a grading while it runs.

Finished runs are counted and the time left is estimated (`tally`), shown on stderr as a bar or as
lines (`display`), and written one by one to a file of JSON lines (`run_log`). The driver learns of
them from rows, whatever the master: those that tasks return, or those in the files that appear in
the folder (`new_rows`).

Start with `watching`, then `tally`. Of `benchmarks.grading` it may import `rows` alone;
`benchmarks.grade` and the Spark job import it.
"""
