"""solver/presolve: its story goes here."""
