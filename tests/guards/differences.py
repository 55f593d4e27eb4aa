"""What differs between host and device as it should, and what no call reaches."""

import re

#: Calls, and why they may come to something else than on the host.
DIFFERENCES: dict[str, str] = {
    r".*[.:](is_cpu|device_type|address|is_mutable|__dlpack_device__)\(.*": "says where data lies",
    r".*(from[_ ]dlpack|__dlpack__)\b.*": "DLPack for devices has errors and versions of its own",
    r".*\(memory_map=buffer.*": "a device buffer is no bytes, so no digits either",
    r".*(Writer|_PyArrowColumn)\.__dict__\(.*": "shows addresses of objects",
    r".*(ChunkedArray|Table)\.__arrow_c_device_array__\(.*": "data on the host does not have it",
    r"pyarrow\.lib:Array\.__reduce__\(.*": "what makes the array again copies it to a device",
    r".*\.(add|set|append)_column\(.*": "pyarrow refuses columns of another device by TypeError",
    r"pyarrow\.lib:Buffer\.equals\(.*": (
        "pyarrow refuses to compare buffers of different devices by ValueError"
    ),
    r"pyarrow(:array|\.lib:Array\.from_pandas)\(obj=table\b.*|"
    r"pyarrow:record_batch\(data=(table|chunked).*": (
        "tables and chunked arrays on a device are one array for others"
    ),
    r"pyarrow\.compute:index\(data=buffer .*": "a device buffer is no sequence of bytes",
    r"pyarrow:py_buffer\(.*|pyarrow\.lib:OSFile\(.*": "a device buffer has no bytes: BufferError",
    r"typical:mixed .* (is exported|is a device capsule|is in parquet|is in a chunked array)": (
        "the C Device interface takes no data of several devices: ArrowInvalid"
    ),
}

#: Functions with several parameters, none of which takes data, or whose data is in `typical`.
UNREACHED = frozenset(
    """
    pyarrow._acero:AsofJoinNodeOptions pyarrow._compute:ReplaceSubstringOptions
    pyarrow._compute:WinsorizeOptions pyarrow._compute:call_function
    pyarrow._compute:register_aggregate_function pyarrow._compute:register_scalar_function
    pyarrow._compute:register_tabular_function pyarrow._compute:register_vector_function
    pyarrow._dataset_parquet:set_decryption_config
    pyarrow._dataset_parquet:set_decryption_properties
    pyarrow._dataset_parquet:set_encryption_config pyarrow._flight:Location.for_grpc_tcp
    pyarrow._flight:Location.for_grpc_tls
    pyarrow._flight:MetadataRecordBatchWriter.write_with_metadata
    pyarrow._substrait:serialize_expressions pyarrow.dataset:write_dataset
    pyarrow.feather:check_chunked_overflow pyarrow.fs:copy_files
    pyarrow.interchange.from_dataframe:buffers_to_array pyarrow.ipc:read_record_batch
    pyarrow.lib:CacheOptions.from_network_metrics pyarrow.lib:DictionaryArray.from_buffers
    pyarrow.lib:LargeStringArray.from_buffers pyarrow.lib:MemoryMappedFile.create
    pyarrow.lib:NativeFile.get_stream pyarrow.lib:RunEndEncodedArray.from_buffers
    pyarrow.lib:StringArray.from_buffers pyarrow.lib:UnionArray.from_dense
    pyarrow.lib:UnknownExtensionType.__arrow_ext_deserialize__ pyarrow.lib:table_to_blocks
    pyarrow.pandas_compat:dataframe_to_arrays pyarrow.pandas_compat:dataframe_to_types
    pyarrow.pandas_compat:get_column_metadata pyarrow.pandas_compat:make_datetimetz
    pyarrow.pandas_compat:make_tz_aware pyarrow.pandas_compat:table_to_dataframe
    pyarrow.parquet:write_metadata pyarrow:create_memory_map pyarrow:dictionary
    pyarrow:fixed_shape_tensor pyarrow:map_ pyarrow:opaque pyarrow:run_end_encoded
    pyarrow:transcoding_input_stream
    """.split()  # noqa: SIM905
)


def is_excused(call: str) -> bool:
    """Whether a call may come to something else than on the host, other than a crash."""
    return any(re.fullmatch(pattern, call, re.DOTALL) for pattern in DIFFERENCES)
