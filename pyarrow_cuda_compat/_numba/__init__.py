"""What Numba asks for by classes of its own: types of kernels' arguments, and memory managers."""
