"""Commands and functions that describe this installation."""
