"""The batch: a grading as frames that Spark joins, spreads over executors and writes.

Which cases are asked for, and what is known of each (`cases`: made and described inside tasks,
kept in the folder, read by the next call)? Which runs have no row yet, and which task does each
(`runs`: pure DataFrame -> DataFrame functions)? How does a task turn its runs into rows (`task`),
how do rounds of tasks become files and progress (`rounds`), and where do the files lie
(`folder`: any path that Spark can write)? `slots` says how many tasks run at a
time; `start` puts all of it together, stage after stage.

Start with `start`, then `runs`. No RDD, broadcast or Spark context where Spark Connect lacks them.
"""
