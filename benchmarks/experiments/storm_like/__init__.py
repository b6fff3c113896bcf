"""The family ``storm-like`` beside the clusters that it follows.

`tables` measures decoded Storm clusters and writes the statistics that the family draws from
(``models/families/data/storm_like.json``); `fit` prints how well the draw fits them; proofs on the
family are in `benchmarks.experiments.proofs`.

Start with `fit`. It may import `models` and `benchmarks.experiments.table`.
"""
