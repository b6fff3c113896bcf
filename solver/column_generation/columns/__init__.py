"""Columns that hold everything decided on a node: the general way of engine ``configurations``.

A column is the content of one node split into workers, with its cost in every term, its moves, its
shared memory and its least cpu; of columns with the same tasks, dominated ones go (`enumeration`).
`model` states the problem as a choice of columns, `pricing` solves its linear relaxation and
proves its bound in integers, `restricted_ip` finds the best solution of some columns by CP-SAT,
`search` takes the terms in order.

Start with `search`, then `model`. It may import `configurations`, `worker_packing`,
`solver.compact.cp_sat`, `solver.structure`, `solver.core` and `models`.
"""
