"""The judged table: what every run of a grading is worth, and all figures that follow from it.

`runs` reads rows into columns, exactly; `judging` compares the runs of each instance with its best
known placement and its proven bounds; `groups` finds the instances on which methods are compared;
`figures` computes counts, gaps, wins, tests and profiles on them, with the statistics of
`intervals`; `summary` is what ``slotwise summary`` shows of them, and `run_table` what
``slotwise.read_rows`` returns. Summaries, reports, comparisons, tables and charts read these;
nothing else computes a figure.

Start with `judging`. It may import `benchmarks.grading` and, to read what only a cluster reaches,
`pipeline.spark`.
"""
