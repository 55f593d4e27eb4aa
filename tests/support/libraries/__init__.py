"""Other libraries in tests: Dask clusters, producers of tensors, stand-ins for Numba."""
