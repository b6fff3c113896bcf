"""Summaries of each method from rows: gaps, ranks, means, failures.

`cases` groups rows by instance and seed and finds the best known value; `gaps` defines the gap of
each term; `measures` has means, spreads and counts; `term_summary` sums up the gaps of one term,
`method_summary` all of a method, `aggregate` all methods; `edge_cuts` adds cut and balance where
graphs are partitioned; `row_placement` reads the placement of a row. Failures count: a mean that
leaves them out is always shown with their number.

Start with `aggregate`. It may import `benchmarks.grading` (names of columns and statuses); plain
Python on rows, without Spark.
"""
