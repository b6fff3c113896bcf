"""Exact engines behind one `solve`."""
