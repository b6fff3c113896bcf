"""What the rows of a grading come to, in Spark SQL: from one row to a hundred million.

Every step is a function from DataFrame to DataFrame made of column expressions, so it runs on any
Spark, Spark Connect included; nothing depends on partitions or on the order of rows, and terms are
compared as exact decimals. Rows become runs in `runs`. From these come `methods` (counts, seconds,
failures), `gaps` (quantiles, means, ECDF), `pairs` (win, tie, loss) and
`profiles` (Dolan and More), in `classes` of instances. `intervals` has
intervals and tests on the numbers of one method or pair (NumPy, SciPy). Definitions agree with
`benchmarks.analysis`, which is plain Python on lists.

Start with `summary`: only it and two functions of `runs` run Spark jobs. May import
`benchmarks.analysis`, `benchmarks.grading`, `pipeline.spark`.
"""
