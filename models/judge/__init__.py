"""models/judge: its story goes here."""
