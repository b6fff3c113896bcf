"""From samples to weights: what a task costs, what flows between tasks, and the instance of it.

`windows` puts the numbers of a task's interval beside each other and sums them by window, `facts`
counts samples and the gaps between them; `sums` keeps both, part by part. `rules` is what all
samples together say: how often tasks report, and clock rates. By these, `series` makes each
weight's values of the windows, `statistic` takes mean, percentile or maximum of the values exactly,
with a confidence interval: functions DataFrame -> DataFrame. `days` keeps what is made of a day.
`run` starts the jobs, `collected` is what they leave; `topology_reader` and `memory` make weights
of it, `measure` a `Measured`, which `instance` puts into a topology file. `coverage` says how much
of what ran the logs show, and whether the interval that was recognised can be. `logs` does it all
for a folder.

Start with `measured`. It may import `models`, `pipeline.spark` and the rest of
`pipeline.statistics`.
"""
