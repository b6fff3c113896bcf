"""The packing loop compiled by Numba: cached on disk, seconds at the very first use."""

from __future__ import annotations

from numba import njit

from slotwise.solver.packing_kernel import fill

fill_compiled = njit(cache=True, nogil=True)(fill)
