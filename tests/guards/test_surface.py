"""What Python tells of pyarrow is the same after the import of `pyarrow.cuda`."""

import json

#: The differences that are meant, and why.
CHANGED = {
    **{
        f"pyarrow.lib:{cls}.copy_to, {told}": "the parameter `stream`"
        for cls in ("Array", "RecordBatch")
        for told in ("documentation", "signature", "full signature")
    },
    "pyarrow.dataset:write_dataset, full signature": "a wrapper of a Python function",
    "pyarrow.feather:write_feather, full signature": "a wrapper of a Python function",
    "pyarrow.parquet:write_table, full signature": "a wrapper of a Python function",
    "pyarrow.parquet.core:write_table, full signature": "a wrapper of a Python function",
}
ADDED = {
    "Buffer": ["copy", "view"],
    "ChunkedArray": [
        *("copy_to", "__arrow_c_device_stream__", "__arrow_c_device_array__"),
        *("__dlpack__", "__dlpack_device__"),
    ],
    "RecordBatch": ["__arrow_c_device_stream__"],
    "RecordBatchReader": ["copy_to", "__arrow_c_device_stream__"],
    "Table": ["copy_to", "__arrow_c_device_stream__", "__arrow_c_device_array__"],
}
WITH_COPIES = ("Dataset", "Fragment", "Scanner")


def test_public_objects_stay_as_they_are(interpreter):
    told = json.loads(interpreter("-m", "guards.surface").stdout)
    assert told["objects"] > 5_000
    differences = told["differences"].items()
    changed = {name for name, (before, _) in differences if before is not None}
    assert changed == set(CHANGED)
    added = {name.partition(",")[0] for name, (before, _) in differences if before is None}
    members = {f"pyarrow.lib:{cls}.{name}" for cls, names in ADDED.items() for name in names}
    assert added == members | {f"pyarrow._dataset:{cls}.copy_to" for cls in WITH_COPIES}
