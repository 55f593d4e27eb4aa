"""Other libraries in tests: Dask clusters, producers of tensors, Numba."""
