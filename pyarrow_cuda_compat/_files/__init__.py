"""Files that are read into device memory, and written from it."""
