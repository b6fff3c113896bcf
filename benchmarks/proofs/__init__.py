"""benchmarks/proofs: its story goes here."""
