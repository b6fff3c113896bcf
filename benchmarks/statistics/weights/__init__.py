"""From samples to weights: what a task costs, what flows between tasks, and the instance of it.

`intervals` puts the numbers of a task's interval beside each other and sums them by window,
`series` makes each weight's values of these, `statistic` takes mean, percentile or maximum of the
values exactly, with a confidence interval. All of them are functions DataFrame -> DataFrame; `run`
collects what they return into a `Measured`, which `instance` puts into a topology file.

Start with `measured`. It may import `models`, `benchmarks.spark` and
`benchmarks.statistics.schema`.
"""
