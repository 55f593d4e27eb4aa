"""What the source distribution needs beyond maturin's: a lock file of its own workspace.

maturin leaves crates out that the wheel is not made of, and the workspace's lock file would no
longer fit: a build that insists on it (``--locked``) fails.
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
from pathlib import Path


def without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Whoever builds the archive is nobody's concern."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def lock(archive: Path) -> None:
    """Takes what the archive's workspace lacks out of its ``Cargo.lock``; versions stay."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        (root,) = Path(folder).iterdir()
        # Cargo brings the lock file up to date before it answers, and changes no more than it must.
        command = ["cargo", "metadata", "--format-version", "1"]
        subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(root, root.name, filter=without_owner)
