"""solver/column_generation/columns: its story goes here."""
