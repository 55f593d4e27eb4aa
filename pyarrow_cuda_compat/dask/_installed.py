"""Says what to install where Dask is missing."""

from .._start.optional import required

required("distributed", "this needs Dask: pip install distributed")
