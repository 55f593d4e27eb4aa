"""The conformance suite that the wheel carries: ``python -m pyarrow_cuda_compat conformance``.

========== ===================================================================================
module     what it does
========== ===================================================================================
cases      finds the cases, which are console sessions in files, and writes them anew
examples   finds and runs the docstring examples of the package's names
replay     runs one case as Python's prompt would, unless the machine lacks what its ``# needs:``
           names, and masks what differs between machines
outcome    runs a case in a process of its own and compares what it prints with what is documented
runner     the command: replays many cases at a time
report     writes the outcomes as a table and as JSON
========== ===================================================================================

Sessions are replayed and compared here and nowhere else.  The project's crate ``conformance`` reads
the JSON.
"""
