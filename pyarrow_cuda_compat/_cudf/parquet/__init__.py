"""Parquet files by libcudf, where its answer is pyarrow's.

============  ======================================================================================
`footers`     what a file says of itself, and whether libcudf is asked for it
`messages`    what this process and the one that decodes tell each other
`sources`     the bytes of files that libcudf reads, in device memory
`worker`      the process that decodes, whose context a damaged file may end
`process`     starts it, asks it, and copies its tables
`partitions`  columns whose values are in the paths of files
`writer`      tables as files
`reader`      the rows of a dataset as tables on the device
============  ======================================================================================
"""
