"""Numba: its contexts and pointers, the types of kernel arguments, and its memory manager."""
