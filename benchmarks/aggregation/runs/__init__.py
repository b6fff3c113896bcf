"""From files of rows to runs whose terms can be compared, as DataFrames of Spark.

`stored` reads the files of a folder; `reading` checks once that all can be compared exactly;
`judged` keeps the latest row of each run and finds the references of its instance, the virtual best
and the common cases; `terms` makes a row of each term with its gaps, and `run_table` a column of
each, for one folder. `arrays` has column expressions that no order of rows can change.

Start with `judged`. It may import `benchmarks.analysis`, `benchmarks.grading` and
`pipeline.spark`.
"""
