"""Hypothesis strategies for people who test a scheduler: instances, placements, faults, stories.

`instances` draws them by kind: any, feasible or infeasible by construction, tight, with a feature;
also clusters and topologies by themselves. `placements` are valid or broken, `faults` take
nodes or capacity away, `stories` are state machines in which topologies come and go and nodes fail
while a scheduler is asked again and again. The source of choice behind them is `FromHypothesis`:
the grammar itself is that of `slotwise.testing.random_instances`, so that Hypothesis draws, shrinks
and replays every single choice, and its seeds, profiles and database work as with any strategy.

Start with `instances`. It may import `models`, `solver.solve` and `testing.random_instances`; it
needs the extra ``slotwise[testing]``.
"""

from slotwise.testing.hypothesis_extra import require_hypothesis

require_hypothesis(__name__)
