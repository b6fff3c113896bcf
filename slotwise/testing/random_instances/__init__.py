"""Random instances for tests and comparisons: what is drawn, and how large.

Every generator takes a source of choice (`slotwise.testing.choices.Chooser`), so that the same
grammar draws from a seeded NumPy generator or from Hypothesis. `tiny` has every rule of the problem
on a handful of tasks (exhaustive search settles them), and `objectives` for sequences of any terms;
`features` says what one must have and gives it to a topology, `feasible` raises limits until a
drawn placement keeps them, or leaves it hardly room, `infeasible` makes instances that have no
placement, by reason; `demand` and `lost_nodes` are for these. `wide_numbers` changes an instance
that is there. Start with `tiny`.

It may import `models`, `heuristics` and `testing.choices`; no engine.
"""
