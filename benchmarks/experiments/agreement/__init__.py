"""Whether engines agree with each other, predictions with simulations, and masters of Spark.

`engines_agree` is the program: it draws instances (`mid_size` and `presolve` beside those of
`testing.random_instances`), asks every engine of `panel`, which also states what must hold between
their answers, and counts by rule (`rule_coverage`, `tally`). `partitions_agree` asks about cuts of
graphs. `prediction_agrees` compares throughput and latency, predicted and simulated, of the
placements of `random_workloads`. A master of Spark decides where runs happen and never how they
end: `masters_agree` grades the same instances on every kind of master and compares the rows;
`servers` starts those that are processes of this machine.

Start with `engines_agree`. It may import `benchmarks.grading`, `pipeline.spark`, `testing`,
`solver` and `models`.
"""
