"""Code under test in processes of its own.

How is it asked so that whatever it does stays there? It may change what it is given, loop in native
code, die, or depend on the seed of hashing. `children` starts the processes, asks them, and ends
those that do not answer in time; `served` is what runs in them, `under_test` loads the code and
asks it there.

Start with `children`. It may import `models`, `heuristics` and `testing.checks.answer`.
"""
