"""The 22 queries of TPC-H: pyarrow on the host, this package on a device, DuckDB and Polars.

The queries, the tables and the comparison of answers are those of `examples/tpch`.
"""
