"""How far and how fast the engines prove: tables of proofs.

Each engine solves each instance in a separate process on one core (`isolated_run`). `rstorm`
compares with textbook models of one boolean per task and node (`textbook`, `textbook_solvers`),
`storm` takes every topology of decoded Storm clusters, `storm_like` topologies drawn with their
statistics, `assignment` public instances with published values, `partition` balanced graph
partitions (textbook: `partition_textbook`), `rstorm_table` R-Storm's versions and the optimum,
`conflicts` explains infeasible instances, `contradictions` proves those that a person sees at once
(`one_short`),
`fewest_moves` has topologies that run already (`running_clusters` and `lost_machines` draw
instances that do), `matrix` distances by matrix, `slots` the fewest slots of dataflows. `table`
prints.

Start with `rstorm`. It may import `benchmarks.judged`, `benchmarks.grading`, `benchmarks.report`
(texts), `benchmarks.experiments.table`, `testing`, `solver`, `heuristics` and `models`.
"""
