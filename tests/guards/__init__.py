"""Calls all of pyarrow with data on a device, and compares the answers with the host's.

pyarrow was written for data in host memory, and most of it crashes on other data, or gives wrong
answers.  The package guards such functions by the table in its `_patches/guards/table.py`.  Here
nobody lists the calls: `walk` finds every function, method, property and class of the installed
pyarrow, and each is called with data of each kind in every parameter that may take it.
``python -m guards`` in ``tests/`` makes the calls, and prints the wrong results.  `test_guards`
makes a sample of them, and ``ci/check guards`` all.

=============  ===================================================================================
`walk`         the functions and members of pyarrow
`values`       data of each kind, on the host or on a device
`recipes`      which data a parameter takes, by its name, and objects for methods
`typical`      calls as programs write them, with arguments that fit each other
`indirect`     data in containers, iterators, files and results of user-defined functions
`flight`       calls of Arrow Flight
`calls`        the calls, and results in a form that can be compared
`trial`        processes that make them: one that crashes is replaced, and goes on after that call
`differences`  calls whose results differ on purpose, and entries that no call reaches
=============  ===================================================================================
"""
