"""Methods of the extension's classes that Python writes best.  `_load` attaches them.

=============  ==================================================================================
`numba`        contexts, buffers and arrays as Numba's, and back
`files`        files to and from device memory; `kvikio` where GPUDirect Storage can
`tables`       files into tables on the device: Arrow files itself, Parquet by `datasets`
`readers`      files into batches on the device, by `datasets`
`datasets`     Parquet files and folders, by libcudf or pyarrow
`arrow`        `DeviceArray` from Arrow arrays, and back
`ipc`          `DeviceArray` in other processes
`absent`       attributes that `DeviceArray` does not have
`pickling`     pickles and copies of what lies on a device
=============  ==================================================================================

This module imports nothing: another thread may be about to import the package, and hold its lock.
"""
