"""Whole clusters: many topologies that share nodes and exchange no flow.

What a topology costs alone on the empty cluster is a bound of what it costs among others, and the
bounds add up (`bounds`). Whether the topologies reach it together is a question of packing: a
placement of one topology is a set of fragments, one per node, and those of one rack must stay in
one rack. `topologies` splits the problem, recognises equal topologies and is the problem of one
topology on what the others leave; `plan` is who is placed how (fragments read off a placement, the
room left on every node); `placing` chooses among known layouts exactly, by CP-SAT; `search` builds
a plan and improves it.

Start with `search`. It may import `solver.compact` (for CP-SAT), `solver.presolve`, `solver.core`
and `models`; how one topology is solved is handed to it by `solver.portfolio`.
"""
