"""solver/column_generation/configurations: its story goes here."""
