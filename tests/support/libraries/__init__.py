"""Other libraries in tests: clusters of Dask's, producers of tensors, stand-ins for Numba."""
