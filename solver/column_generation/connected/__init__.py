"""solver/column_generation/connected: its story goes here."""
