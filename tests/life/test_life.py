"""The quick selection of what can happen to a process; ``ci/check life`` runs all of it."""

import json

import pytest

from life.__main__ import GROUPS

pytestmark = [pytest.mark.simulator, pytest.mark.independent]


@pytest.mark.subprocesses
@pytest.mark.timeout(600)
@pytest.mark.parametrize("group", GROUPS)
def test_a_process_survives(interpreter, group, tmp_path):
    out = tmp_path / "found.json"
    done = interpreter("-m", "life", group, "--quick", "--json", out, timeout=600)
    found = json.loads(out.read_text())[group] if out.exists() else {}
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert len(found) > 10
