"""pyarrow's functions on device data, by libcudf.

pyarrow's compute functions read host memory.  Where pylibcudf is installed, calls with data on a
device run here instead, and the results stay on the device; aggregates become scalars on the host.
This package computes nothing itself: each kernel maps a function of pyarrow to libcudf's.

Each module uses only those above it.

==============  ====================================================================================
`refusals`      why a call gets no answer on a device
`engine`        which engine answers, and why none does
`rmm_resource`  RMM's memory, from this package
`caches`        caches whose keys tell apart what equality does not; there are no others
`conversions`   columns that are remembered for results and tables
`types`         the kinds of types that kernels name, and what libcudf needs of their memory
`admission`     the gate towards libcudf: alignment, rows, place
`layouts`       the gate back: a result has the layout of its type
`spans`         flat arrays as libcudf's columns, and back, by the addresses of their memory
`columns`       pyarrow data as libcudf's, and back
`calls`         a call of a function: arguments, options, the type of its result
`operations`    libcudf's operations, by the names that several functions need
`registry`      the functions of pyarrow that libcudf answers, which `functions` list there
`functions`     what each of them does
`expressions`   reads ``pc.field("a") > 1``
`binding`       gives the parts of an expression their types, and folds literals
`evaluation`    evaluates an expression over a table on a device
`groups`        what libcudf is asked for each aggregation of groups
`queries`       ``filter`` by expressions, ``group_by``, ``join``
`asof`          ``join_asof``
`parquet`       reads files
`parts`         aggregates of more rows than a column of libcudf's has
`dispatch`      answers a call
`library`       loads it; what libcudf raises becomes a refusal, or an error of this package
==============  ====================================================================================

A kernel answers as pyarrow does, or not at all: `NotCovered` becomes the refusal that data on a
device meets without libcudf, with the reason.
"""
