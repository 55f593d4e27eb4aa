"""Patches pyarrow's own classes and functions in place, since other libraries use these.

================  =================================================================================
`addresses`       ``Buffer.address``, to know which addresses other libraries have seen
`buffers`         pickles of generic buffers on a device
`copy_to`         ``copy_to`` of arrays, batches, tables and readers; ``copy``, ``view`` of buffers
`datasets`        ``copy_to`` of datasets and scanners
`device_arrays`   export and import of the C Device interface and of DLPack
`device_streams`  export and import of streams of the C Device interface
`combine`         `combine_chunks`, and chunks that are exported as one array
`flatten`         values of lists and fields of structs, as arrays
`views`           arrays and tables that are made of parts of others
`read_ahead`      readers of copies, whose batches a thread reads ahead
`batches`         methods whose batches have to report the right device
`guards`          refuses data on a device where functions read host memory, or copies it,
                  or has libcudf answer
`patching`        how compiled members are guarded, and methods added
================  =================================================================================
"""

import _pyarrow_cuda_compat_hook as _hook  # type: ignore[import-untyped,unused-ignore]

from . import (
    addresses,
    batches,
    buffers,
    combine,
    copy_to,
    datasets,
    device_arrays,
    device_streams,
    flatten,
    guards,
    read_ahead,
    views,
)


def install() -> None:
    """Makes all changes, once each, if ``PYARROW_CUDA_HOOK`` allows it."""
    if _hook.is_enabled():
        for each in (
            addresses,
            buffers,
            device_arrays,
            copy_to,
            datasets,
            read_ahead,
            combine,
            flatten,
            views,
            batches,
            device_streams,
            guards,
        ):
            each.install()
