"""solver/assignment: its story goes here."""
