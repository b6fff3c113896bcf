"""solver/admission: its story goes here."""
