"""Arrow files and streams of other writers: this package reads them as pyarrow does on the host.

``ci/check writers`` installs the libraries that `pins.txt` names, each in a folder of its own.
``python -m writers FOLDER`` in ``tests/`` then lets each write what it knows, and compares.

=========================  =======================================================================
`samples`                  streams that the libraries are given, of each type that pyarrow has
`write.py`, `write.mjs`    programs that write files by one of the libraries, in its environment
`read`                     each way to read a file, beside pyarrow's
=========================  =======================================================================
"""
