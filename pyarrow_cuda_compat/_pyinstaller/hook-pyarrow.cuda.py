"""``pyarrow.cuda`` imports its names from a module that the finder supplies."""

hiddenimports = ["pyarrow_cuda_compat"]
