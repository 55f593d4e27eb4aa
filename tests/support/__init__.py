"""What several folders share; pytest, and the processes that tests start, find it by name."""
