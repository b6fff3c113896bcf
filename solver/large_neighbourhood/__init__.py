"""Large-neighbourhood search: parts of the incumbent solved again, all else fixed.

The nodes of a neighbourhood exchange flow; one may be empty. Their tasks are a problem
of their own (`neighbourhood`), solved by the engines ``connected`` and ``cp-sat``. What is
no worse is taken. Neighbourhoods grow while they are solved to the end, and shrink where they are
not [1]. It proves nothing, and comes after local search, where single tasks no longer help.

Start with `engine`. It may import `solver.column_generation.connected`, `solver.compact.cp_sat`,
`solver.presolve`, `solver.core` and `models`.

[1] D. Pisinger, S. Ropke, Large neighborhood search, Handbook of Metaheuristics, 2019.
"""
