# pyarrow does not ship types, and this package does not add any: names that are missing here are
# Any.  But mypy requires a stub of the package that contains `pyarrow.cuda`.
#
# The folder comes after site-packages on the module path, so type checkers prefer another package's
# types for the whole of pyarrow.

from typing import Any

from pyarrow.lib import Buffer as Buffer
from pyarrow.lib import Device as Device
from pyarrow.lib import DeviceAllocationType as DeviceAllocationType
from pyarrow.lib import MemoryManager as MemoryManager
from pyarrow.lib import MemoryPool as MemoryPool
from pyarrow.lib import NativeFile as NativeFile
from pyarrow.lib import ResizableBuffer as ResizableBuffer

def __getattr__(name: str) -> Any: ...
