"""heuristics/rstorm/storm_1: its story goes here."""
