# The package itself gives the same names as pyarrow.cuda, and those of the additions.
# shows: additions, The package
#   pyarrow_cuda_compat: the package exports the same objects as pyarrow.cuda
#   pyarrow_cuda_compat.__version__: the version, as text
from pyarrow import cuda

import pyarrow_cuda_compat

names = sorted(pyarrow_cuda_compat.__all__)
names
all(
    getattr(cuda, name) is getattr(pyarrow_cuda_compat, name) for name in names if name in dir(cuda)
)
# Names that pyarrow.cuda does not have.
[name for name in names if name not in dir(cuda)]
isinstance(pyarrow_cuda_compat.__version__, str)
ctx = pyarrow_cuda_compat.Context(0)
isinstance(ctx, cuda.Context)
ctx.buffer_from_data(b"the same").to_pybytes()
