"""Slots for a dataflow by any method: the five published pairs, or the optimum.

`run` gives a method a dataflow, performance models and a rate, and has its plan checked slot by
slot, whoever made it; `answer` is what comes out: the plan, whether it reaches its rate, what
fails, and how many slots are needed at least. `optimum` asks `solver.slots` and finds the VMs
where their number is limited; `highest` asks for the highest rate of a number of slots.

Start with `run`. It may import `heuristics.sam`, `solver.slots`, `solver.core.result` and
`models`.
"""
