"""Loads the extension and chooses the C++ bridge; imports nothing else of the package."""
