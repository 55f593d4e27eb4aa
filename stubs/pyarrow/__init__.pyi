# pyarrow has no types of its own, and this package does not give it any: what is not named here
# is Any.  But mypy wants to know the package that `pyarrow.cuda` is in.
#
# The folder is on the path of modules behind site-packages, so that the types of another package
# for the whole of pyarrow come before these.

from typing import Any

from pyarrow.lib import Buffer as Buffer
from pyarrow.lib import Device as Device
from pyarrow.lib import DeviceAllocationType as DeviceAllocationType
from pyarrow.lib import MemoryManager as MemoryManager
from pyarrow.lib import MemoryPool as MemoryPool
from pyarrow.lib import NativeFile as NativeFile
from pyarrow.lib import ResizableBuffer as ResizableBuffer

def __getattr__(name: str) -> Any: ...
