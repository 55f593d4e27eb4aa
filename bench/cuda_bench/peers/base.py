"""What all libraries have in common."""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..measure import Call


class NotOffered(AttributeError):
    """The library has no such call."""


def method(name: str, *first: object, **named: object) -> Any:
    """Prepares a call of the method that an object has, with these arguments before others."""
    return lambda of, *others, **more: partial(getattr(of, name), *first, *others, **named, **more)


class Peer:
    """A library.  Each defines what it offers of the following, as its users would do it.

    Timed as they are, where device memory is the library's own kind, of single bytes:
      wait()                   waits for the default stream
      allocate(size)           device memory, which is released with its last reference
      allocate_pinned(size)    pinned host memory for NumPy, likewise
      array(host)              a typed array on the device, with the elements of a NumPy array
      adopt(array)             device memory over that of another library's array

    They prepare a call, so that none of the benchmark's own code is timed with it:
      upload(device, host, stream=None), download(...)       on a stream a copy is only queued
      fresh(device)            the bytes, or a typed array, in new host memory
      device_copy(target, source)
      dense_copy(array)        a copy on the device, in C order, of an array in another one
      to_second_device(source)           memory of another device, and a call that copies and waits
      equal(first, second), equal_host(device, host)
      serialize(batch), read(message, schema)
      batch_up(batch)          a record batch to the device: as one, or a list of its columns
      batch_to_second_device(there)      a copy of the batch on another device
      batch_down(there)        back into new host memory: a record batch, or a list of arrays
      buffers_up(hosts)        new device memory for each array
      file_up(device, path)    a whole file to device memory of its size
      file_parts_up(device, path, part)  by a loop that reads and writes `part` bytes at a time
      file_new(path, direct)   a whole file to new device memory; past the page cache if `direct`
      file_down(device, path)  a whole file from device memory
      compute(call)            a call of `calls.py`, by its name, for a table of table_up(table)

    Not timed:
      versions                 by the names of packages
      view(device, start, size)
      table_up(table)          the table where the peer computes
      result_down(result)      on the host
      buffer(device)           the value of `buffer` in statements like `buffer.address`
      stream()                 a new one, with `synchronize`; it does not wait for the default one
      handle(stream)           the driver's handle of a stream that nothing else uses
      on_thread()              while a thread makes copies beside others, which go on a stream of
                               its own if streams keep them apart: a context manager that yields
                               a call that waits for these copies alone
      maker                    makes such a peer in another process
      maker_on(device)         the same, for the device of this number
      reserved()               the bytes of device memory that it has of the driver, in use or not
      trim()                   gives unused memory back to the driver
    """

    title: ClassVar[str]

    def __getattr__(self, name: str) -> Any:
        raise NotOffered(f"no call like `{name}`")

    def view(self, device: Any, start: int, size: int) -> Any:
        return device[start : start + size]

    def file_up(self, device: Any, path: str) -> Call:
        return lambda: self.upload(device, np.memmap(path, np.uint8, "r"))()

    def batch_up(self, batch: Any) -> Any:
        # Writable arrays: PyTorch warns of others, such as Arrow's.
        return self.buffers_up([np.array(column) for column in batch.columns])
