"""Writes the software bill of materials (CycloneDX): what the wheel's libraries are made of.

maturin's own lists the crates of every platform, without the simulator's, and the folders of the
machine that built it.  This one is the same wherever it is made.
"""

from __future__ import annotations

import json
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from linked import EXTENSION, LIBRARIES, ROOT, Crate, crates, rustc

#: `tool.maturin.sbom` in pyproject.toml names it.
FILE = ROOT / "packaging" / "pyarrow-cuda-compat.cdx.json"


def write() -> None:
    """Writes the file to where maturin takes it for the wheel."""
    FILE.write_text(json.dumps(bill(crates()), indent=1) + "\n")


def remove() -> None:
    FILE.unlink(missing_ok=True)


def bill(linked: list[Crate]) -> dict[str, Any]:
    (version,) = (crate.version for crate in linked if crate.name == EXTENSION)
    package = component("pyarrow-cuda-compat", version, "Apache-2.0", kind="pypi")
    rust = component("rust", rustc("release"), "Apache-2.0 OR MIT", kind="github/rust-lang")
    own = [reference(crate) for crate in linked if crate.name in LIBRARIES]
    needed = {reference(crate): [url("cargo", *key) for key in crate.needs] for crate in linked}
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": package},
        "components": [rust, *map(crate_component, linked)],
        "dependencies": [
            {"ref": ref, "dependsOn": refs}
            for ref, refs in [(package["bom-ref"], [rust["bom-ref"], *own]), *needed.items()]
        ],
    }
    number = uuid5(NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return content | {"serialNumber": f"urn:uuid:{number}"}


def crate_component(crate: Crate) -> dict[str, Any]:
    made = component(crate.name, crate.version, crate.license, kind="cargo")
    if crate.checksum is not None:
        made["hashes"] = [{"alg": "SHA-256", "content": crate.checksum}]
    return made


def component(name: str, version: str, license: str, *, kind: str) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": url(kind, name, version),
        "name": name,
        "version": version,
        "licenses": [{"expression": license}],
        "purl": url(kind, name, version),
    }


def reference(crate: Crate) -> str:
    return url("cargo", crate.name, crate.version)


def url(kind: str, name: str, version: str) -> str:
    return f"pkg:{kind}/{name}@{version}"
