"""RAS's outer loop: the order of the topologies, and which ones must make room.

``ResourceAwareScheduler`` of Apache Storm 3.0: the order by users and priorities (`priority`), the
attempts at one topology with evictions on a working copy (`topology_attempt`), the sums that
decide whether it could fit (`resource_sums`), and what came of each topology (`round`).

Start with `scheduler`. It may import `heuristics.ras.strategies` and what is below it. Exact
counterparts of its choices are in `solver.admission`.
"""
