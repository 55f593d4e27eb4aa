"""How fast the package is: beside other libraries, and beside the limits of the machine.

Neither asv nor pytest-benchmark fits: asv compares commits of one project and pytest-benchmark runs
of one test suite, while a row here compares libraries in turns, beside a limit and against a goal.
"""
