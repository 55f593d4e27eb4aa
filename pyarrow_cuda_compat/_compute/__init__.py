"""pyarrow's functions on device data, by libcudf.

pyarrow's compute functions read host memory.  Where pylibcudf is installed, calls with data on a
device run here instead, and the results stay on the device; aggregates become scalars on the host.
This package computes nothing itself: each row maps a function of pyarrow to libcudf's.

==============  ====================================================================================
`engine`        which engine answers, and why none does; loads pylibcudf when it is first needed
`calls`         a call of a function: arguments, options, the type of its result
`kinds`         kinds of types, in the words of the rows; `NotCovered`
`forms`         what libcudf needs of the memory of a type's arrays
`columns`       pyarrow's arrays as libcudf's columns, and back; `spans` does it by addresses
`entry`         the gate towards libcudf: alignment, rows, place; `layouts` the gate back
`known`         columns that are remembered for results and tables
`caches`        caches whose keys tell apart what equality does not; there are no others
`rows`          the rows of all functions; `run` answers a call by one
`operations`    libcudf's operations, by the names that several rows need
`plain` `arithmetic` `comparisons` `aggregates` `selections` `casts` `strings` `times`
                the rows
`expressions`   reads ``pc.field("a") > 1``; `evaluation` evaluates it over a table on a device
`tables`        ``filter`` by expressions, ``group_by``, ``join``
==============  ====================================================================================

A row answers as pyarrow does, or not at all: `NotCovered` becomes the refusal that data on a device
meets without libcudf, with the reason.
"""
