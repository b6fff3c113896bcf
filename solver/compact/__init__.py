"""Compact models: one integer per class and place, with every rule of the problem.

How many tasks of each group of interchangeable tasks are in each worker? Textbook models ask this
of each task by a boolean; counts remove that symmetry. `layout` says what is counted where;
`network` chooses, for the bilinear terms u * v of the network cost, which count of each product
is expanded into its values. Variables, hard rules, network cost by levels or by a matrix (RLT-1),
the objective (by pairs of tasks, too) with symmetry breaking have a file each; what only one back
end has is in `cp_sat` or `milp`. Every rule is modelled, so these engines take any
instance.

Start with `layout`. It may import `solver.structure`, `solver.core` and `models`, no other engine.
In words and formulas: ``docs/design.md``, 8.1.
"""

from slotwise.solver.compact.cp_sat.builder import Count, product
from slotwise.solver.compact.cp_sat.run import overflows, proven_bound, run_cp_sat

__all__ = ["Count", "overflows", "product", "proven_bound", "run_cp_sat"]
