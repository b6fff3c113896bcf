"""Graph partitioners for comparison: one pass, several passes, and the whole graph at once.

These partitioners take any graph, without knowledge of topologies. `streaming` has hashing, linear
deterministic greedy [1] and Fennel [2] in one pass over a stream of vertices, and both with
several passes [3], in one of `orders`; `metis` [4] and `kahip` [5] see the whole graph and are
extras. All take vertex and edge weights and parts of different sizes. `partition` defines question
and answer; `orders` and `kernels` hold the greedy step, compiled by Numba for millions of edges;
`instances` applies them to instances, and makes methods of them. Start with `partition`; the list
is in `partitioners`.

It may import `heuristics.method`, `heuristics.method_names`, `heuristics.partial_placement`,
`heuristics.node_capacity` and `models`.

[1] I. Stanton, G. Kliot, Streaming graph partitioning for large distributed graphs, KDD 2012.
[2] C. Tsourakakis et al., FENNEL: streaming graph partitioning for massive scale graphs, WSDM 2014.
[3] J. Nishimura, J. Ugander, Restreaming graph partitioning, KDD 2013.
[4] G. Karypis, V. Kumar, A fast and high quality multilevel scheme, SIAM J. Sci. Comput. 20, 1998.
[5] P. Sanders, C. Schulz, Think locally, act globally, SEA 2013.
"""
