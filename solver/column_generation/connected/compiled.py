"""The loops of `piece_kernels` compiled by Numba: cached on disk, seconds at the very first use."""

from __future__ import annotations

from numba import njit

from slotwise.solver.column_generation.connected import kernels as piece_kernels

lift = njit(cache=True)(piece_kernels.lift)
combine = njit(cache=True)(piece_kernels.combine)
combine_exactly = njit(cache=True, nogil=True)(piece_kernels.combine_exactly)
add_up = njit(cache=True, nogil=True)(piece_kernels.add_up)
