"""Topologies with the statistics of two decoded Storm clusters, drawn by seed.

On what is progress measured, if not on the topologies that everybody has looked at? Each instance
is one topology alone on an empty cluster, as in the family ``storm``. `statistics` says what is
measured of a topology, `tables` holds what was measured (``data/storm_like.json``), `streams`,
`parallelism` and `demands` draw a topology from it, `cluster` draws the nodes. Half of the seeds
are held out: the family ``storm-like-held-out`` is for final figures only.

Start with `family`. It may import `models.families.family`, `models.instance` and what is below.
"""
