"""What can happen to a process that uses the package: it exits, forks, gets signals, lacks memory.

`states.py` says what may be alive then, and `work.py` what may be under way; each of the other
modules crosses them with one kind of event.  A case runs in a process of its own.
"""
