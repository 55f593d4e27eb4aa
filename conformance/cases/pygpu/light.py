# Importing PyGPU's interface loads no other GPU library and no driver, and it launches nothing.
# shows: pygpu, Introduction
#   PyGPU: light: importing it loads no other GPU library, and no driver
#   PyGPU: does not launch device code: the program's own functions do that
# shows: pygpu, Advantages
#   PyGPU: minimal dependencies: NumPy
import importlib.metadata
import sys

import pyarrow_cuda_compat.pygpu as gpuarray

loaded = {name.partition(".")[0] for name in sys.modules}
loaded >= {"numpy", "pyarrow", "pyarrow_cuda_compat"}
[name for name in ("cupy", "numba", "pycuda", "torch", "cuda") if name in sys.modules]
"libcuda" in open("/proc/self/maps").read()
# Packages that it requires.
sorted(it for it in importlib.metadata.requires("pyarrow-cuda-compat") if "extra" not in it)
# Arrays, copies, streams and events; the program's own functions launch kernels.
[name for name in dir(gpuarray) if "launch" in name.lower() or "kernel" in name.lower()]
[name for name in dir(gpuarray) if name.startswith("cuda") and "_" not in name]
# NVIDIA's GPUs only.
(gpuarray.cuda_enabled, gpuarray.use_hip)
[name for name in dir(gpuarray) if name.startswith(("hip", "nvml"))]
