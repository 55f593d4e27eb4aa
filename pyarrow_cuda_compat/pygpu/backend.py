"""The low-level interface: device control, pointers, allocators, and arrays of each type."""

from ._devices import *  # noqa: F403
from ._dtypes import dtype as dtype
from ._pointers import *  # noqa: F403
from ._properties import *  # noqa: F403
from ._status import *  # noqa: F403
from ._streams import *  # noqa: F403
from ._typed_allocators import *  # noqa: F403
from ._typed_arrays import *  # noqa: F403

# The version of PyGPU whose interface this is.
major_version, minor_version, release_version = 0, 2, 1

cuda_enabled = True
# AMD's GPUs are not supported.
use_hip = False

# By `globals()`, because type checkers would treat a computed `__all__` as an empty one.
globals()["__all__"] = [name for name in globals() if not name.startswith("_")]
