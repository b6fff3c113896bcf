"""benchmarks/speed: its story goes here."""
