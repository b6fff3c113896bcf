"""Exact engines behind one ``solve``, bounds and explanations."""
