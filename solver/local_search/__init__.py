"""solver/local_search: its story goes here."""
