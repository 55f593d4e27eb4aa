"""The part of `DeviceArray` that is in Python: Arrow types, IPC handles, layouts."""
