"""How fast the package is: beside other libraries, and beside what the machine can do."""
