"""What is checked, a property each: a function of a trial and an instance that finds a fault.

A property returns a `Finding`, or ``None`` where it holds, and raises `NotJudgedError` where it
says nothing of the instance. Those that compare two answers make a variant of the instance that
follows from it alone (`indifference`, `other_clusters`), so that a finding can be reproduced from
the instance. `edges` makes instances for which an answer is just wrong.

Start with `validity`. It may import `models`, `solver`, `testing.random_instances` and the
scheduler's side of `testing.checks`: `trial`, `finding`.
"""
