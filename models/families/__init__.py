"""models/families: its story goes here."""
