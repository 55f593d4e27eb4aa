# Parts of a device array, and other shapes of it, are views of the same memory.
# shows: additions, Device arrays
#   DeviceArray.ndim: the number of dimensions
#   DeviceArray.size: the number of elements
#   DeviceArray.itemsize: the size of an element, in bytes
#   DeviceArray.nbytes: the size of all elements, in bytes, without gaps
#   DeviceArray.address: the device address of the first element
#   DeviceArray.buffer: the memory that the elements span, gaps included
#   DeviceArray.__getitem__: integers, slices, ... and None give views
#   DeviceArray.reshape: a view in another shape; refused where only a copy can have it
#   DeviceArray.ravel: a view in one dimension
#   DeviceArray.T: a view with the dimensions reversed
#   DeviceArray.transpose: a view with the dimensions in another order
#   DeviceArray.squeeze: a view without dimensions of one element
#   DeviceArray.view: a view of the same bytes as another dtype
#   DeviceArray.is_c_contiguous: whether the last dimension is the densest, without gaps
#   DeviceArray.is_f_contiguous: whether the first dimension is the densest, without gaps
#   DeviceArray.flags: whether the items are contiguous in C and in Fortran order, as Numba's arrays
#     say it
#   DeviceArray.copy: a copy without gaps
import numpy as np

from pyarrow_cuda_compat import DeviceArray

host = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
array = DeviceArray.from_host(host)
(array.dtype, array.shape, array.strides, array.ndim, array.size, array.itemsize, array.nbytes)
row = array[1]
(row.shape, row.address - array.address)
every = array[:, ::-1, 1::2]
(every.shape, every.strides, every.address - array.address, every.ptr == every.address)
every.copy_to_host()
(every.buffer.size, every.nbytes, every)
np.array_equal(array[..., None, 2].copy_to_host(), host[..., None, 2])
# A change of a view is one of the array.
every[0] = -1
array.copy_to_host()[0]
(array.T.shape, array.T.is_f_contiguous(), array.T.is_c_contiguous())
array.T.flags
array.transpose(1, 0, 2).strides, array.T.reshape(4, 6, order="F").strides
array.reshape(4, -1)[3].copy_to_host(), array[::-1].T[0, 0].copy_to_host()
array[:1].squeeze().shape, array[:1, :1].squeeze(axis=0).shape
array.T.ravel(order="F")[20:].copy_to_host()
array.view(np.uint8).shape, DeviceArray.empty((2, 0, 3), np.int16).strides
large = np.arange(4000).reshape(40, 2, 50).T
np.array_equal(DeviceArray.from_host(large).copy().copy_to_host(), large)
# Shapes that need a copy.
array.T.reshape(24)
array.T.copy().ravel().copy_to_host()[:4]
# Indices beyond the array.
array[2]
array[0, 0, 0, 0]
array[[0, 1]]
array.reshape(5, 5)
array.reshape(5, -1)
# Dimensions that are no others, and elements that are not next to each other.
array.transpose(0, 0, 1)
array.squeeze(0)
array[..., ::2].view(np.uint8)
