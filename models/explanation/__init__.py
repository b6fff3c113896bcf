"""The cost of a placement and its causes, computed by the judge alone.

`cost_split` splits each term by streams, nodes and tasks; `alternatives` computes the cost of one
task in every other place, or the rules that forbid it there; `mending` states in words what breaks
a rule and what would repair it. Everything is recomputed by the judge, so it is exact.

Start with `cost_split`. It may import `models.judge`; it must not know who made a placement.
"""
