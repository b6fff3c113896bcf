"""Child processes: started, asked within limits, and ended with all that they have started.

What runs elsewhere may hang, flood its output, take all memory, die, or leave processes behind.
`child` runs a command: a `reaper` beside it ends whatever it has started, and `pipes` talks with it
within limits of time and size. `command_of` there is the command that calls one of our functions in
a new Python, and `ending` ends what was started without a reaper. Where many processes need the
same imports, `forked` forks them from a `fork_server`, which also limits their `memory`. Each user
says only what it starts, and what an overrun means.

Start with `child`. It may import `models`; heuristics, the pipeline, gradings and the kit for tests
use it.
"""
