"""What `DeviceArray` does in Python: Arrow's arrays, pickles, and handles for other processes."""
