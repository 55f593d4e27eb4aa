"""Whether a wheel's extension uses Python's stable ABI, as abi3audit sees it: abi3.py WHEEL

abi3audit takes no exceptions, and the guards need two functions.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Every Python from 3.11 on exports them; the first is in no stable ABI, the second since 3.12.
MEANT = {"_native.abi3.so": (["PyVectorcall_Function"], {"PyObject_Vectorcall": "3.12"})}


def used(wheel: str) -> dict[str, Any]:
    """Functions outside the stable ABI, and those that are newer than the wheel's Python."""
    audit = Path(sys.executable).with_name("abi3audit")
    done = subprocess.run([audit, "--report", wheel], stdout=subprocess.PIPE, text=True)
    (report,) = json.loads(done.stdout)["specs"].values()
    results = {each["name"]: each["result"] for each in report["wheel"]}
    return {
        name: (result["non_abi3_symbols"], result["future_abi3_objects"])
        for name, result in results.items()
        if not result["is_abi3_baseline_compatible"] or not result["is_abi3"]
    }


def main() -> None:
    if (found := used(sys.argv[1])) != MEANT:
        sys.exit(f"abi3: expected {MEANT}, but found {found}")
    print("abi3: as expected")


if __name__ == "__main__":
    main()
