"""Exchange with other libraries and formats: Numba, KvikIO, files and pickles."""
