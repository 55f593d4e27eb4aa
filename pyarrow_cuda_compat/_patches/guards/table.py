"""Lists pyarrow's functions that read their data in host memory, and a rule for each.

============  ==================================================================================
`REFUSE`      ``NotImplementedError``, in pyarrow's words and with the way out
`CHECK`       likewise, but not in a method with the rule `METHOD`
`MASK`        likewise, in calls with a `mask`: without one, pyarrow itself finds the data, also in
              long lists
`TO_HOST`     the data is copied to the host: the result leaves the device anyway
`BATCHES`     likewise, a batch of a table at a time
`ROW_GROUPS`  likewise, a row group of a table at a time
`PARQUET`     a large table on a device is written by libcudf
`COUNT`       the nulls of each array are counted, which pyarrow itself would do on the host
`JOIN`        arrays or batches on a device become one there
`SLICE`       each chunk is sliced, and its nulls counted
`CAST`        tables whose columns have several types are not concatenated, but refused
`OFFSETS`     nulls are counted, and offsets refused that are null or invalid
`VALIDATE`    data that libarrow finds invalid is validated on the host
`SIZE`        batches with runs are measured on the host, where libarrow reads how long these are
`NBYTES`      the bytes that the elements refer to, by the data's types and offsets
`BUFFERS`     the bytes of the buffers
`RESULTS`     as `TO_HOST`, and results of user-defined functions are copied to the host
`COMPUTE`     libcudf answers if pylibcudf is installed: see `compute.py`, then
              `_cudf/dispatch.py`.  Otherwise as `REFUSE`
`QUERY`       likewise, for functions of tables
`DATASET`     a dataset whose methods are those of the table: see `datasets.py`
`WRITE`       as `TO_HOST`, also for such a dataset
`METHOD`      pyarrow's own check is left out: the method only calls functions of the rows above
============  ==================================================================================

A row names a module, members of it, and the rule for data on a device in their arguments, ``self``
among them.  Such data is

* an array, chunked array, record batch, table, buffer or message, alone or in a container,
* an item of a reader or another iterator,
* the array that an object makes when pyarrow asks it for one.

A member is a function, a method or property as ``Class.member``, or a class, whose constructor is
then guarded.  A function has its row under the module that defines it.

A function without a row either refuses such data itself, or passes it on without reading it:
``tests/guards`` calls all of pyarrow and finds the functions that do neither.
"""

REFUSE, MASK, COUNT, SLICE, JOIN = "refuse", "mask", "count", "slice", "join"
TO_HOST, BATCHES, ROW_GROUPS, PARQUET = "to host", "batches", "row groups", "parquet"
CAST, OFFSETS, VALIDATE = "cast", "offsets", "validate"
SIZE, RESULTS, NBYTES, BUFFERS = "size", "results", "nbytes", "buffers"
COMPUTE, QUERY, METHOD, CHECK = "compute", "query", "method", "check"
DATASET, WRITE = "dataset", "write"

TABLE: tuple[tuple[str, str, str], ...] = (
    # Every function of `pyarrow.compute`, and what arrays and tables do by them.
    ("pyarrow._compute", "Function.call", COMPUTE),
    ("pyarrow.lib", "Array.sum Array.unique Array.dictionary_encode Array.value_counts", METHOD),
    ("pyarrow.lib", "Array.cast Array.is_null Array.is_nan Array.is_valid Array.fill_null", METHOD),
    ("pyarrow.lib", "Array.take Array.drop_null Array.filter Array.index Array.sort", METHOD),
    ("pyarrow.lib", "ChunkedArray.unique ChunkedArray.dictionary_encode", METHOD),
    ("pyarrow.lib", "ChunkedArray.value_counts ChunkedArray.cast ChunkedArray.is_null", METHOD),
    ("pyarrow.lib", "ChunkedArray.is_nan ChunkedArray.is_valid ChunkedArray.fill_null", METHOD),
    ("pyarrow.lib", "ChunkedArray.take ChunkedArray.drop_null ChunkedArray.filter", METHOD),
    ("pyarrow.lib", "ChunkedArray.index ChunkedArray.sort", METHOD),
    ("pyarrow.lib", "_Tabular.take _Tabular.drop_null _Tabular.filter _Tabular.sort_by", METHOD),
    ("pyarrow.lib", "RecordBatch.take RecordBatch.drop_null RecordBatch.filter", METHOD),
    ("pyarrow.lib", "Table.take Table.drop_null Table.filter Table.group_by Table.join", METHOD),
    ("pyarrow.lib", "Table.join_asof Table.cast", METHOD),
    ("pyarrow._compute", "SetLookupOptions.__init__", REFUSE),
    # Queries.
    ("pyarrow.acero", "_filter_table _group_by _perform_join _perform_join_asof", QUERY),
    ("pyarrow._acero", "TableSourceNodeOptions.__init__", REFUSE),
    ("pyarrow._acero", "RecordBatchReaderSourceNodeOptions.__init__", REFUSE),
    ("pyarrow.dataset", "_in_memory_dataset", DATASET),
    ("pyarrow._dataset", "InMemoryDataset UnionDataset", REFUSE),
    ("pyarrow._dataset", "Scanner.from_batches Scanner.from_dataset", REFUSE),
    ("pyarrow._dataset", "_ScanNodeOptions._set_options", REFUSE),
    ("pyarrow._dataset", "Scanner.take Dataset.take Fragment.take", REFUSE),
    # Arrays and what is made of them.
    ("pyarrow.lib", "concat_arrays concat_batches", JOIN),
    ("pyarrow.lib", "concat_tables", CAST),
    ("pyarrow.lib", "array", MASK),
    ("pyarrow.lib", "Array.diff Array.equals ChunkedArray.equals", REFUSE),
    ("pyarrow.lib", "MonthDayNanoIntervalArray.to_pylist", REFUSE),
    ("pyarrow.lib", "Array._export_to_c RecordBatch._export_to_c", REFUSE),
    # libarrow copies what lies on a device as a whole, but crashes on what lies in two places.
    ("pyarrow.lib", "Array.to_string ChunkedArray.to_string", TO_HOST),
    ("pyarrow.lib", "ChunkedArray._assert_cpu", CHECK),
    ("pyarrow.lib", "RecordBatch.equals Table.equals", REFUSE),
    ("pyarrow.lib", "Array.nbytes ChunkedArray.nbytes RecordBatch.nbytes Table.nbytes", NBYTES),
    ("pyarrow.lib", "Array.get_total_buffer_size ChunkedArray.get_total_buffer_size", BUFFERS),
    ("pyarrow.lib", "RecordBatch.get_total_buffer_size Table.get_total_buffer_size", BUFFERS),
    ("pyarrow.lib", "Array.validate ChunkedArray.validate", VALIDATE),
    ("pyarrow.lib", "RecordBatch.validate Table.validate", VALIDATE),
    ("pyarrow.lib", "Array.to_tensor FixedShapeTensorArray.to_numpy_ndarray", REFUSE),
    ("pyarrow.lib", "FixedShapeTensorArray.to_tensor", REFUSE),
    ("pyarrow.lib", "BinaryArray.total_values_length", REFUSE),
    ("pyarrow.lib", "LargeBinaryArray.total_values_length", REFUSE),
    ("pyarrow.lib", "DictionaryScalar._reconstruct", REFUSE),
    ("pyarrow.lib", "RunEndEncodedArray.from_arrays", REFUSE),
    ("pyarrow.lib", "RunEndEncodedArray.find_physical_length", REFUSE),
    ("pyarrow.lib", "RunEndEncodedArray.find_physical_offset", REFUSE),
    # Chunked arrays and tables count the nulls of their chunks; other data made of arrays.
    ("pyarrow.lib", "chunked_array Table.from_arrays", COUNT),
    ("pyarrow.lib", "RecordBatchReader.read_all", COUNT),
    ("pyarrow.lib", "ListArray.from_arrays LargeListArray.from_arrays", OFFSETS),
    ("pyarrow.lib", "MapArray.from_arrays", OFFSETS),
    ("pyarrow.lib", "ListViewArray.from_arrays LargeListViewArray.from_arrays", OFFSETS),
    ("pyarrow.lib", "FixedSizeListArray.from_arrays", COUNT),
    ("pyarrow.lib", "StructArray.from_arrays", COUNT),
    ("pyarrow.lib", "UnionArray.from_dense UnionArray.from_sparse", COUNT),
    ("pyarrow.lib", "ChunkedArray.slice Table.slice", SLICE),
    # Streams of batches for other libraries, in host memory.
    ("pyarrow.lib", "RecordBatchReader.__arrow_c_stream__", REFUSE),
    ("pyarrow.lib", "RecordBatchReader._export_to_c RecordBatchReader.cast", REFUSE),
    # Files and messages.  Readers of every format make files of buffers by `as_buffer`.
    ("pyarrow.lib", "as_buffer compress decompress", TO_HOST),
    ("pyarrow.lib", "Codec.compress Codec.decompress", TO_HOST),
    ("pyarrow.lib", "output_stream FixedSizeBufferWriter", REFUSE),
    ("pyarrow.lib", "NativeFile.write", TO_HOST),
    ("pyarrow.lib", "Message.equals Message.serialize Message.serialize_to", TO_HOST),
    ("pyarrow.lib", "_CRecordBatchWriter.write _CRecordBatchWriter.write_batch", TO_HOST),
    ("pyarrow.lib", "_CRecordBatchWriter.write_table", BATCHES),
    ("pyarrow.lib", "get_record_batch_size", SIZE),
    ("pyarrow._csv", "write_csv", TO_HOST),
    ("pyarrow._feather", "write_feather", TO_HOST),
    ("pyarrow.feather", "write_feather", TO_HOST),
    ("pyarrow._orc", "ORCWriter.write", TO_HOST),
    ("pyarrow._parquet", "ParquetWriter.write_table", ROW_GROUPS),
    ("pyarrow.parquet.core", "write_table", PARQUET),
    ("pyarrow.dataset", "write_dataset", WRITE),
    ("pyarrow._dataset", "FileFormat.make_fragment FileFormat.inspect", TO_HOST),
    ("pyarrow._dataset_parquet", "ParquetFileFormat.make_fragment", TO_HOST),
    ("pyarrow._dataset", "DirectoryPartitioning HivePartitioning FilenamePartitioning", TO_HOST),
    ("pyarrow._flight", "MetadataRecordBatchWriter.write_batch", TO_HOST),
    ("pyarrow._flight", "MetadataRecordBatchWriter.write_table", BATCHES),
    ("pyarrow._flight", "MetadataRecordBatchWriter.write_with_metadata", TO_HOST),
    ("pyarrow._flight", "MetadataRecordBatchWriter.write_metadata", TO_HOST),
    ("pyarrow._flight", "RecordBatchStream GeneratorStream", TO_HOST),
    # Plans and options, which are read as they are taken in.
    ("pyarrow._compute", "Expression.from_substrait FunctionOptions.deserialize", TO_HOST),
    ("pyarrow._substrait", "BoundExpressions.from_substrait", TO_HOST),
    ("pyarrow._substrait", "deserialize_expressions deserialize_schema", TO_HOST),
    # Buffers that are lent to others as host memory.
    ("pyarrow.interchange.buffer", "_PyArrowBuffer.__init__", REFUSE),
    ("pandas.core.interchange.buffer", "PandasBufferPyarrow.__init__", REFUSE),
    # User-defined functions.
    ("pyarrow._substrait", "run_query", RESULTS),
    ("pyarrow._compute", "register_scalar_function register_vector_function", RESULTS),
    ("pyarrow._compute", "register_aggregate_function register_tabular_function", RESULTS),
)
