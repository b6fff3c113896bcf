"""Summaries of each method from rows: gaps, ranks, means, failures.

`cases` groups rows by instance and seed and finds the best known value; `gaps` defines the gap,
(value - bound) / max(|value|, 10^-6), of the first term that is not settled; `measures` has means,
spreads and counts; `method_summary` puts them together for a method, `aggregate` for all;
`edge_cuts` adds cut and balance where graphs are partitioned. Failures count: a mean that
leaves them out is always shown with their number.

Start with `aggregate`. It may import `benchmarks.grading` (names of columns and statuses); plain
Python on rows, without Spark.
"""
