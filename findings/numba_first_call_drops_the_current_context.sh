#!/usr/bin/env bash
# Numba's first call of `current_context` leaves the thread without the context that the program had made current.
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "there is no GPU here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check \
    numba-cuda==0.30.4 cuda-core==1.2.2 cuda-bindings==13.3.1 "numpy<2.5"
cd "$folder" && bin/python - <<'PROGRAM'
import sys
from importlib.metadata import version

from cuda.bindings import driver
from numba import cuda

print(*(f"{name} {version(name)}" for name in ("numba-cuda", "cuda-core", "cuda-bindings")))
print("expected: a refusal of the program's own context, which stays the thread's current one")


def current():
    code, context = driver.cuCtxGetCurrent()
    assert code == 0, code
    return int(context)


assert driver.cuInit(0)[0] == 0
device = driver.cuDeviceGet(0)[1]
code, _own = driver.cuCtxCreate(None, 0, device)
assert code == 0, code
before = current()
left = []
for turn in ("first call", "second call"):
    driver.cuCtxSetCurrent(before)
    try:
        cuda.current_context()
        said = "no error"
    except RuntimeError as error:
        said = str(error).partition(" context")[0]
    left.append(current() == before)
    print(f"{turn}: {said}; the thread's context is {'the same' if left[-1] else 'gone'}")
sys.exit(left != [False, True])
PROGRAM
