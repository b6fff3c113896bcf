"""Engine ``few-moves``: the best placement with at most K moves, where K is small.

With few moves every worker, node and rack holds almost what it holds now. So tables of what may
leave and join each of them are small, and merging the tables from workers up to the cluster finds
the optimum exactly, in integers, without a solver; for all numbers of moves up to K at once. It may
import `column_generation`, and no other engine. Start with `engine`; then `changes`, `nodes`,
`cluster`. Ours.
"""
