# One element of a device array converts, compares and computes as its scalar.
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
# Larger arrays leave that to kernels.
array + 1
float(array)
bool(array)
array.item()
