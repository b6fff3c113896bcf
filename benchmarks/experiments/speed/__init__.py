"""Seconds and megabytes: whether limits hold, and how long small things take.

`time_limits` and `memory_limits` solve large instances of many shapes (`limit_instances`) in
processes of their own and fail where a limit is passed; `interrupts` measures Ctrl-C at random
moments; `judge` one judgement at scale; `cli` the start of the command line; `harness` what the
processes of a grading cost (`harness_task` is one of them); `planned_runs` how soon a large grading
starts; `summary` one of many rows; `predict` a prediction; `partition` graph partitioners;
`cp_sat_work` what a unit of work is; `profile_accuracy` profiles of tasks whose rates are known;
`statistics` sums of millions of log lines, beside those of `statistics_by_hand` and
`statistics_in_pandas`.

Start with `time_limits`. It may import `benchmarks.experiments.proofs`, `benchmarks.grade`,
`benchmarks.grading`, `pipeline.spark`, `pipeline.statistics`, `solver` and `models`.
"""
