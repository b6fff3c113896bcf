"""Engine choice ``auto``: which engines run, in which order, on how much of the time.

First a placement and cheap bounds, then presolve, then the engines that may prove the instance, one
after the other on one thread, CP-SAT beside them on more (`auto`). All share one incumbent and the
best bounds. `attempt` keeps a failing engine from failing the others and each within the memory
that is left, and has proofs of CP-SAT and MIP solvers confirmed by a second engine.

Start with `auto`. It may import every engine, `solver.engines`, `solver.presolve`,
`solver.baseline` and what is below; no engine imports it.
"""
