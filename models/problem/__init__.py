"""models/problem: its story goes here."""
