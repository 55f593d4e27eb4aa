"""Short forms of the long runs: nothing grows, and many threads at once get their own bytes."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent

pytestmark = pytest.mark.independent


@pytest.mark.parametrize(
    "arguments",
    [["soak.py", "50000", "5000", "1000"], ["crowd.py", "16", "2"]],
    ids=lambda arguments: arguments[0],
)
def test_a_long_run(interpreter, arguments):
    script, *numbers = arguments
    done = interpreter(HERE / script, *numbers, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
