"""Checks of any scheduler on random instances: valid, complete, close to the optimum, and more.

A `scheduler` under test is a Python callable, one of our methods or a command; `answer` says what
it may return, and a `trial` remembers what it said, beside the proven optimum. It runs in processes
of its own (`children` starts them, `served` is what runs there, `under_test` loads its code), and a
`scope` says which rules it is for. `properties` are what is checked, an instance at a time, and
`edges` makes instances for which an answer is just wrong; `table` gives them names and thresholds.
`search` draws instances with Hypothesis, and `reduction` makes the failing ones small. `functions`
are the checks for people's own tests, ``slotwise test-scheduler`` and the pytest plug-in call the
same `search`.

Start with `functions`. It may import `models`, `heuristics`, `solver`, `testing.strategies` and
`testing.random_instances`.
"""
