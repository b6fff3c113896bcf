"""benchmarks/storm: its story goes here."""
