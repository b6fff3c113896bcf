"""solver/column_generation: its story goes here."""
