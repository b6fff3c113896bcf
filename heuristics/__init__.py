"""Published placement methods, one file each."""
