"""The packing loop compiled by Numba: cached on disk, seconds at the very first use."""

from __future__ import annotations

from numba import njit

from slotwise.solver.column_generation.worker_packing.kernels import fill

fill_compiled = njit(cache=True, nogil=True)(fill)
