"""A plugin for pytest: pyarrow's tests that expect an error where this package answers."""

from __future__ import annotations

import pytest

#: By the names of the tests.
REASONS = {
    "test_non_cpu_buffer": "`hex` and pickles of device buffers work",
    "test_non_cpu_array": "arrays on a device are tensors by DLPack",
    "test_chunked_array_non_cpu": "`null_count` is known on a device",
    "test_recordbatch_non_cpu": "batches on a device have `nbytes`, and are made of structs",
    "test_table_non_cpu": "the batches of a table know their device (apache/arrow#44049)",
    "test_dlpack_cuda_not_supported": "arrays on a device are tensors by DLPack",
}


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    for item in items:
        if item.originalname in REASONS:
            reason = REASONS[item.originalname]
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
