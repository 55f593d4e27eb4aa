"""A plugin for pytest: a skipped test is a failure, because nothing may be missing in CI."""

from __future__ import annotations

import pytest


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or session.exitstatus != pytest.ExitCode.OK:
        return
    for report in reporter.stats.get("skipped", []):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter.write_line(f"\nskipped, which counts as a failure: {report.nodeid}", red=True)
