"""Methods of the extension's classes that Python writes best.  `_load` attaches them.

=============  ==================================================================================
`numba`        contexts, buffers and arrays as Numba's, and back
`files`        files to and from device memory; `kvikio` where GPUDirect Storage can
`tables`       Arrow files into tables on the device
`arrow`        `DeviceArray` from Arrow arrays, and back
`ipc`          `DeviceArray` in other processes
`pickling`     pickles and copies of what lies on a device
=============  ==================================================================================

This module imports nothing: another thread may be about to import the package, and hold its lock.
"""
