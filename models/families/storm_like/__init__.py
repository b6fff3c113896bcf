"""Topologies with the statistics of two decoded Storm clusters, drawn by seed.

On what is progress measured, if not on the topologies that everybody has looked at? Each instance
is one topology alone on an empty cluster, as in the family ``storm``. `statistics` says what is
measured of a topology and holds what was measured (``data/storm_like.json``), `streams` draws
streams and parallelism from it, `family` demands and nodes. Half of the seeds
are held out: the family ``storm-like-held-out`` is for final figures only.

Start with `family`. It may import `models.families.family`, `models.instance` and what is below.
"""
