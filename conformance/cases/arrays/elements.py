# One element of a device array converts, compares and computes as its scalar.
# shows: additions, Device arrays
#   DeviceArray.__getitem__: one element converts, compares and computes as its scalar
#   DeviceArray.__getitem__: the name of a field of structures is an index, and gives a view of it
#   DeviceArray.item: the one element as a Python object
import numpy as np

from pyarrow_cuda_compat import DeviceArray

array = DeviceArray.from_host(np.array([[1.5, 2.5], [-3.0, 4.0]]))
element = array[1, 0]
(element.shape, element.item(), float(element), int(element), bool(element))
element == -3, element < 0, -element, abs(element)
element + 1, 1 - element, element * 2, element**2
f"{element:.2f}"
np.sqrt(array[1, 1])
# It is a view: it shows later changes.
array[1, 0] = 8
element.item()
len(array), [row.copy_to_host().tolist() for row in array]
# Fields of structures are views, too.
points = DeviceArray.from_host(np.array([(1, 0.5), (2, 1.5)], [("x", "i4"), ("y", "f8")]))
(points["y"].strides, points["y"].copy_to_host().tolist(), str(points[1]["x"]))
points["x"] = 7
points[0]["y"] += 1
points.copy_to_host().tolist()
points["z"]
# Those that are arrays themselves add their dimensions.
pixels = np.array([(1, [[2, 3]]), (4, [[5, 6]])], [("n", "i1"), ("value", "u1", (1, 2))])
values = DeviceArray.from_host(pixels)["value"]
(values.shape, values.strides, values.copy_to_host().tolist(), values[1].copy_to_host().tolist())
# Larger arrays leave that to kernels.
array + 1
float(array)
array.item()
# As in Numba, an array is true if it is not empty.
bool(array), bool(array[:0])
