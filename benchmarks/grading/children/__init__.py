"""Processes that run solvers and methods: whatever happens there becomes a row.

`supervisor` hands batches of runs to a child process, which answers run by run (`child`); when it
dies or is killed, the run it was at gets a row that says so.

Start with `supervisor`. It may import `benchmarks.grading` except its Spark job.
"""
