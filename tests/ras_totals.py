"""What a cluster uses in all, for the expectations of vectors."""

from __future__ import annotations

from slotwise.heuristics.ras.state import RasState


def totals(state: RasState) -> dict[str, float]:
    """Return what is in use at the end, all workers together; MB and cpu points."""
    workers = [w for of_node in state.workers for w in of_node.values()]
    regions = [
        state.model.topologies[w.topology].regions[r] for w in workers for r in sorted(w.regions)
    ]
    shared_on = sum(region.onheap for region in regions)
    shared_off = sum(region.offheap_worker for region in regions)
    of_nodes = sum(
        state.node_shared(t, node) for t in range(len(state.places)) for node in state.on_node[t]
    )
    onheap = sum(w.onheap for w in workers)
    offheap = sum(w.offheap for w in workers)
    return {
        "executors": sum(len(places) for places in state.places),
        "workers": len(workers),
        "nodes": sum(bool(of_node) for of_node in state.workers),
        "cpu": sum(w.charged for w in workers),
        "worker_on_heap": onheap,
        "worker_off_heap": offheap,
        "worker_shared_on": shared_on,
        "worker_shared_off": shared_off,
        "node_shared_off": of_nodes,
        "mem_on_heap": onheap,
        "mem_off_heap": offheap + of_nodes,
        "mem_total": onheap + offheap + of_nodes,
        "shared_on": shared_on,
        "shared_off": shared_off + of_nodes,
        "nonshared_on": onheap - shared_on,
        "nonshared_off": offheap - shared_off,
    }


TOTALS = (
    "executors",
    "workers",
    "nodes",
    "cpu",
    "worker_on_heap",
    "worker_off_heap",
    "worker_shared_on",
    "worker_shared_off",
    "node_shared_off",
    "mem_on_heap",
    "mem_off_heap",
    "mem_total",
    "shared_on",
    "shared_off",
    "nonshared_on",
    "nonshared_off",
)
