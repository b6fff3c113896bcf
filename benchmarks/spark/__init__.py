"""benchmarks/spark: its story goes here."""
