# A SmartArray works as an array of NumPy, and what results is a SmartArray again.
# shows: additions, SmartArray
#   pyarrow_cuda_compat.SmartArray: works as an array of NumPy; results are SmartArrays
import copy
import pickle

import numpy as np

from pyarrow_cuda_compat import SmartArray

array = SmartArray([3.0, 1.0, 2.0], where="gpu")
array * 2 + 1
np.sqrt(array) > 1.2
(array == SmartArray([3.0, 1.0, 0.0])).all()
array.astype("i4")
(array.sum(), array.argsort(), 2.0 in array, float(array[1]), [*array])
# Changes reach the device.
array.sort()
array += 1
np.add.at(array, 0, 10)
np.multiply(array, 2, out=array)
array[1:] = 5
array.get("gpu").copy_to_host()
# NumPy's functions return SmartArrays; what converts them gets a copy.
np.asarray(array)[0] = 0
np.concatenate([array, array])
np.array(array, copy=False).flags.writeable
# Copies.
(copy.deepcopy(array), pickle.loads(pickle.dumps(array)))
hash(array)
# It is true if it is not empty, as in Numba.
bool(array), bool(array[:0])
