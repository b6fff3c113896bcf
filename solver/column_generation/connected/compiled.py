"""The loops of `kernels` compiled by Numba: cached on disk, seconds at the very first use."""

from __future__ import annotations

from numba import njit

from slotwise.solver.column_generation.connected import kernels

lift = njit(cache=True)(kernels.lift)
combine = njit(cache=True)(kernels.combine)
combine_exactly = njit(cache=True, nogil=True)(kernels.combine_exactly)
add_up = njit(cache=True, nogil=True)(kernels.add_up)
