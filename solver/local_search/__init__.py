"""Local search for distances by level: ruin and recreate from a known placement.

It proves nothing and improves the incumbent. Some tasks are taken out (connected ones, whole
workers, those of two or three nodes) and put back one by one where they cost least [1], sometimes
skipping the best place ("blinks" [2]); late acceptance [3] decides whether to go on from there.
`solution` keeps the placement as arrays, `feasibility` answers which workers take one more task. On
plain problems of many tasks a loop compiled by Numba does the same, far faster (`compiled`;
`kernels` is the loop).

Start with `engine`. It may import `solver.core` and `models`.

[1] G. Schrimpf et al., Record breaking optimization results using the ruin and recreate principle,
J. Comput. Phys. 159, 2000. [2] J. Christiaens, G. Vanden Berghe, Slack induction by string
removals, Transp. Sci. 54, 2020. [3] E. Burke, Y. Bykov, The late acceptance hill-climbing
heuristic, EJOR 258, 2017.
"""
