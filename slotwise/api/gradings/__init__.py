"""Gradings: their page, their rows and what they come to, their archive for a cluster.

`slotwise.grade` itself is `benchmarks.grade`. `reporting` makes the page, the files for a paper and
the comparison of two gradings; `summing` reads rows and sums them up; `packing` packs this
environment for executors.

Start with `reporting`. It may import what the other modules of `api` may.
"""
