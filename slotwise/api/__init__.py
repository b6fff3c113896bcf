"""The public functions of Python: what the commands do, with arguments in place of options.

The packages below are strict: each takes compiled problems and placements of indices. The
functions here also take paths, dicts and text (`inputs` says which is which), so that a notebook
needs one line; the command line calls the same functions. `import slotwise` has all of them.

What ``explain`` finds out is in `explanations`; functions about gradings are in `gradings`, about
metric logs in `logs`, about topologies that run in `running`; what draws placements is in
`showing`.

Start with `inputs`, then read `solving`. Every function of the package, save those of the commands
themselves, may be imported; `cli` and `slotwise` import it.
"""
