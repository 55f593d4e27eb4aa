"""numba-cuda up to 0.30.4 exports no array to other processes where cuda-bindings is 13.5.

The bindings' class of a handle has no `reserved` any more, which holds its bytes: Numba cannot
pickle it, nor can our memory manager fill it.
"""

import pickle
import sys

import numpy as np
from numba import cuda

handle = cuda.to_device(np.arange(10)).get_ipc_handle()
try:
    pickle.dumps(handle)
except AttributeError as error:
    print(f"numba-cuda: {error}")
    sys.exit("reserved" not in str(error))
sys.exit("the handle was pickled: no fault here")
