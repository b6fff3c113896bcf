"""Lower bound on the flow between racks: what racks hold at prices of counts."""

from __future__ import annotations

from slotwise.solver.column_generation.connected.joint.content_pricing import ContentPricing
from slotwise.solver.column_generation.connected.joint.count_prices import find_count_prices
from slotwise.solver.column_generation.connected.joint.joint_duals import find_joint_duals
from slotwise.solver.column_generation.connected.place_model import PlaceModel
from slotwise.solver.column_generation.connected.pricing import find_duals
from slotwise.solver.column_generation.connected.rack_bound import rack_graph
from slotwise.solver.column_generation.params import ConnectedParams
from slotwise.solver.core.memory import RunToken


def flow_between_racks(
    places: PlaceModel, scale: int, deadline: float, params: ConnectedParams, token: RunToken
) -> int:
    """Return a lower bound on the flow between racks, proven on the grid `scale`."""
    racks = rack_graph(places.problem, places.kinds, token, params)
    if racks is None:
        return 0
    now = token.now()
    deadline = now + params.rack_time_fraction * (deadline - now)
    duals = find_duals(racks, scale, deadline, token)
    pricing = ContentPricing((racks,), scale, 1, 0, None, params, token)
    half = now + (deadline - now) / 2
    start = find_joint_duals(pricing, duals.pi, duals.configurations, half, params)
    inside = pricing.total(find_count_prices(pricing, start, deadline, params).pi) // scale
    return max(0, int(places.kinds.pairs(places.kinds.sizes)) - inside)
