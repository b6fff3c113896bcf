"""Fewest slots for a dataflow, exactly: bundles of threads packed into the slots of VMs.

A slot type is one option (bundle size) per task. With n_k slots of type k, and X_ki what they carry
of task i:

    min  sum_k n_k    s.t.    sum_k X_ki >= w_i,    X_ki <= I_ki n_k,
         sum_i (C_ki / I_ki) X_ki <= 100 n_k,  the same with M for memory,    n_k integer

This is exact: slots of one type may share their rates equally, because what a slot of one type can
carry is convex. Where demand is not scaled by load, X_ki = I_ki n_k and the loads are constants.
Column generation (`master`) prices types by a two-dimensional knapsack with one choice per task
(`pricing`, bounds in integers), `packing` makes whole slots with rates in fractions, `branching`
closes the gap or, where every thread of a task receives an equal share, chooses the thread totals;
`solve` buys the slots.

Start with `solve`. It may import the restricted master of `solver.column_generation`, `solver.core`
and `models`, but nothing about placement. In words: ``docs/methods/sam.md``. Data: Shukla and
Simmhan, *Model-driven Scheduling for Distributed Stream Processing Systems*; the article has no
optimum.
"""
