# Views of a SmartArray share both sides with it.
# shows: additions, SmartArray
#   pyarrow_cuda_compat.SmartArray: views share both sides with the array that they are taken from
import numpy as np

from pyarrow_cuda_compat import SmartArray

array = SmartArray(np.zeros((3, 4), "i4"))
column = array[:, 1]
type(column), column.shape, column.strides
column.get("gpu").fill(7)
column.mark_changed("gpu")
array
array.T[0] = 5
array.get("gpu").copy_to_host()
array.reshape(12)[-1] = 9
array[2].get("gpu").copy_to_host()
records = SmartArray(np.zeros(2, [("count", "i4"), ("share", "f8")]))
records["share"] = 0.5
records.get("gpu").copy_to_host()
# What NumPy copies is an array of its own.
chosen = array[[0, 2]]
chosen[:] = 0
(type(chosen), array[2, 3])
