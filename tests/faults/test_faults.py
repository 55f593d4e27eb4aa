"""A sample of the faults: each function that a scenario calls fails once, with one of the codes."""

import json

import pytest

from faults import plan, scenarios

pytestmark = [pytest.mark.simulator, pytest.mark.independent]


@pytest.fixture(scope="module")
def wrong(interpreter, tmp_path_factory):
    """What ``python -m faults --quick`` has found, by scenario."""
    out = tmp_path_factory.mktemp("faults") / "found.json"
    done = interpreter("-m", "faults", "--quick", "--json", out, timeout=1200)
    found = json.loads(out.read_text()) if out.exists() else {}
    assert (done.returncode, done.stderr) == (any(found.values()), ""), done.stdout
    return found


@pytest.mark.subprocesses
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", scenarios.every())
def test_any_call_may_fail(wrong, name):
    assert not wrong[name], "\n".join(wrong[name])


def test_selected_calls():
    assert [plan.selected(count) for count in (1, 2, 3, 4, 9, 100)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 3, 4],
        [1, 2, 3, 5, 9],
        [1, 2, 3, 50, 100],
    ]
