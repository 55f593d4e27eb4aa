"""Short forms of the long runs: nothing grows, and many threads at once get their own bytes."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

pytestmark = pytest.mark.independent


@pytest.mark.parametrize(
    "arguments",
    [["soak.py", "50000", "5000", "1000"], ["crowd.py", "16", "2"]],
    ids=lambda arguments: arguments[0],
)
def test_a_long_run(arguments):
    script, *numbers = arguments
    command = [sys.executable, str(HERE / script), *numbers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
