"""solver/column_generation/worker_packing: its story goes here."""
