"""models/certificates: its story goes here."""
