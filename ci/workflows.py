"""Checks .github/workflows: they only call ci/, may do little, and end in time.

zizmor checks the actions that they use.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = re.compile(r"(ci/\w+)( .*)?")
# Permissions of a job beyond reading: prove to a registry which workflow it is, publish pages.
PERMISSIONS = {"contents": {"read"}, "id-token": {"write"}, "pages": {"write"}}


def faults(workflow: dict[Any, Any]) -> Iterator[str]:
    # YAML takes the key `on` for a truth value.
    if not workflow.get(True):
        yield "nothing starts it"
    if workflow.get("permissions") != {"contents": "read"}:
        yield "it may do more than read"
    if "group" not in workflow.get("concurrency", {}):
        yield "runs of it may overlap"
    for name, job in workflow["jobs"].items():
        if "timeout-minutes" not in job:
            yield f"{name}: no time limit"
        for permission, level in job.get("permissions", {}).items():
            if level not in PERMISSIONS.get(permission, ()):
                yield f"{name}: it may {level} {permission}"
            elif level == "write" and "environment" not in job:
                yield f"{name}: it publishes, but nobody is asked: no environment"
        for step in job["steps"]:
            yield from (f"{name}: {fault}" for fault in faults_of_step(step))


def faults_of_step(step: dict[str, Any]) -> Iterator[str]:
    for line in step.get("run", "").splitlines():
        called = SCRIPT.fullmatch(line)
        if called is None:
            yield f"not a script of ci/: {line}"
        elif not (ROOT / called[1]).is_file():
            yield f"no such script: {called[1]}"


def main() -> None:
    paths = sorted((ROOT / ".github" / "workflows").iterdir())
    found = [
        f"{path.name}: {fault}"
        for path in paths
        for fault in faults(yaml.safe_load(path.read_text()))
    ]
    if found or not paths:
        sys.exit("\n".join(found) or "there are no workflows")
    print("workflows:", *(path.name for path in paths))


if __name__ == "__main__":
    main()
