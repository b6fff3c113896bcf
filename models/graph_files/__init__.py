"""Weighted graphs in files: METIS, edge lists, and what NetworkX reads.

What does a graph file say, and is it sound? A graph is read as a `vertex_stream`: chunks of
vertices with their neighbours. `metis` streams its file, never whole in memory, with loops compiled
by Numba (`metis_kernels`); the other formats do not list a vertex with its neighbours, so
`edge_list` and `networkx_file` build the graph in memory (`CsrGraph`). `graph_file` chooses by the
file's name. Start with `vertex_stream`.

It may import `models.formats` and what is below.
"""
