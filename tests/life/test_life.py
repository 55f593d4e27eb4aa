"""The quick selection of what can happen to a process; ``ci/check life`` runs all of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from life.__main__ import GROUPS

pytestmark = [pytest.mark.simulator, pytest.mark.independent]


@pytest.mark.subprocesses
@pytest.mark.timeout(600)
@pytest.mark.parametrize("group", GROUPS)
def test_a_process_survives(group, tmp_path):
    out = tmp_path / "found.json"
    command = [sys.executable, "-m", "life", group, "--quick", "--json", out]
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = json.loads(out.read_text())[group] if out.exists() else {}
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert len(found) > 10
