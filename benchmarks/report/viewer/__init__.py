"""The viewer: placements of one instance side by side, as one HTML fragment.

Where does each task run, what does each node carry, what costs, and what differs from the optimum?
`view` fills ``templates/viewer.html.j2`` of the report. The page that embeds it includes
``viewer.css.j2`` and ``viewer.js.j2`` once; without the script everything stands one below the
other. The fragment has no ids, so that a page may hold any number of them.

Start with `view`. It may import `models` and `solver.structure` (which nodes are equal).
"""
