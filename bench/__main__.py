"""`python bench`: the same as ci/bench, with the package that this Python has."""

import sys
from pathlib import Path

# A folder that is run comes first by itself, unless Python was told to leave paths out.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from cuda_bench.cli import main

main()
