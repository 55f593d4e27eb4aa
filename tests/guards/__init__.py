"""Calls all of pyarrow with data on a device, and compares the answers with the host's.

pyarrow was written for data in host memory, and most of it crashes on other data, or gives wrong
answers. What the package does about that is in the table of its own `_pyarrow/guards/table.py`.
Here nobody lists what to call: `walk` finds every function, method, property and class of the
installed pyarrow, and each is called with data of each kind in every parameter that may take it.
``python -m guards`` in ``tests/`` does that, and prints what is wrong.

===========  =====================================================================================
`walk`       what there is to call
`values`     data of each kind, on the host or on a device
`recipes`    which data a parameter takes, by its name, and what objects methods are called on
`everyday`   what takes more than one call, or several arguments that fit each other
`flights`    the same with Arrow Flight
`calls`      the calls, and results in a form that can be compared
`trial`      processes that make them: one that crashes is replaced, and goes on behind that call
`excused`    differences that are as they should be, and what cannot be reached
===========  =====================================================================================
"""
