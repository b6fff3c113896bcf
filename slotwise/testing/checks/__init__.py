"""What a scheduler owes, checked on random instances: is it valid, complete, close to the optimum?

A `scheduler` under test is a Python callable, one of our methods or a command.

Start with `scheduler`. It may import `models`, `heuristics`, `solver` and `testing.strategies`.
"""
