# Shared by the scripts of this folder: steps with their times, the wheel, virtual environments.
# To be sourced; leaves the caller in the root of the repository.
# shellcheck shell=bash

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PYTHON=${PYTHON:-python3}
# The releases that the bridges are built for are those that everything is tested with.
mapfile -t PYARROW <packaging/pyarrow-versions.txt

# A warning of the bridge's compiler is an error here; with another compiler, users may get others.
export CXXFLAGS=${CXXFLAGS--Werror}

# The Rust that formats, lints and describes the API: each version does that in another way.
# shellcheck disable=SC2034  # for those scripts
RUST=1.95

# The checkout's own package has no extension and must not hide the installed one.
export PYTHONSAFEPATH=1

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# no_arguments [ARGUMENT...]: shows what the script does, if that is asked for, and refuses other arguments.
no_arguments() {
    case ${1:-} in
    '') return ;;
    -h | --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "ci/${0##*/}" ;;
    *) fail "it takes no arguments: $1" ;;
    esac
    exit
}

# --- steps -------------------------------------------------------------------------------------

# A file, because steps that run beside others do so in a process of their own.
STEPS=
STEP_NAME=
BESIDE=

# step NAME COMMAND...: runs a command; the first one that fails ends the script.
step() {
    local start=${EPOCHREALTIME/[.,]/} took
    STEPS=${STEPS:-$(mktemp)}
    STEP_NAME=$1
    printf '\n=== %s\n' "$STEP_NAME"
    shift
    "$@"
    took=$(((${EPOCHREALTIME/[.,]/} - start) / 100000))
    printf 'ok      %6d.%d s  %s\n' $((took / 10)) $((took % 10)) "$STEP_NAME" >>"$STEPS"
    STEP_NAME=
}

# beside COMMAND...: runs a command with steps at the same time as what follows, up to
# `end_beside`, which shows what it has written.
beside() {
    STEPS=${STEPS:-$(mktemp)}
    BESIDE_LOG=$(mktemp)
    # Of its own process group, so that it can be ended as a whole.
    set -m
    (
        trap 'note_failure' EXIT
        "$@"
    ) >"$BESIDE_LOG" 2>&1 </dev/null &
    BESIDE=$!
    set +m
}

# Fails where the command has failed.
end_beside() {
    local status=0
    wait "$BESIDE" || status=$?
    BESIDE=
    cat "$BESIDE_LOG"
    rm "$BESIDE_LOG"
    return "$status"
}

note_failure() {
    [[ -z $STEP_NAME ]] || printf 'FAILED                %s\n' "$STEP_NAME" >>"$STEPS"
}

# For an EXIT trap: which steps passed, and which one did not.
summary() {
    local status=$?
    note_failure
    if [[ -n $BESIDE ]]; then
        kill -KILL -- "-$BESIDE" 2>/dev/null || true
        cat "$BESIDE_LOG"
        printf '\n(The steps beside the one that failed were ended.)\n'
        rm "$BESIDE_LOG"
    fi
    printf '\n=== summary, %d s\n' "$SECONDS"
    if [[ -n $STEPS ]]; then
        cat "$STEPS"
        rm "$STEPS"
    fi
    exit "$status"
}

# --- setting up --------------------------------------------------------------------------------

need() {
    command -v "$1" >/dev/null || fail "$1 is needed: $2"
}

check_tools() {
    need "$PYTHON" "Python 3.11 or later (PYTHON names another one)"
    need cargo "Rust, at least the version that Cargo.toml names"
    need "${CXX:-g++}" "a C++20 compiler (CXX names another one)"
    "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "$PYTHON is older than Python 3.11"
}

venv_of() { # PYARROW_VERSION
    printf '.venv/pyarrow-%s' "$1"
}

# As crates/arrow-bridge/cpp/build.py calls it.
bridge_of() { # PYARROW_VERSION
    local numbers
    IFS=. read -ra numbers <<<"$1"
    printf 'libarrow_bridge_%d%02d.so' "${numbers[0]}" "${numbers[1]}"
}

# The crates that are published.
libraries() {
    grep -L '^publish = false$' crates/*/Cargo.toml | xargs sed -n '/^\[package\]$/,/^$/s/^name = "\(.*\)"$/\1/p'
}

# The oldest Rust that is supported.
oldest_rust() {
    sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml
}

digest_of() {
    sha256sum | cut -d ' ' -f 1
}

# Tests that do not depend on pyarrow's version run with the newest one only, and those of Dask with two versions.
requirements_of() { # PYARROW_VERSION
    echo ci/requirements.txt
    case $1 in
    "${PYARROW[-1]}") echo ci/requirements-newest.txt ;;
    "${PYARROW[0]}") echo ci/requirements-rapids.txt ;;
    esac
}

# environment PYARROW_VERSION: makes a virtual environment, unless it is there already.
environment() {
    local requirements
    mapfile -t requirements < <(requirements_of "$1")
    { echo "pyarrow==$1" && cat "${requirements[@]}"; } | environment_in "$(venv_of "$1")"
}

# environment_in FOLDER: the same with the requirements that it reads.
environment_in() {
    local venv=$1 wanted requirements
    requirements=$(cat)
    # A virtual environment holds its own path and its interpreter's.
    wanted=$({ "$PYTHON" -VV && pwd && echo "$requirements"; } | digest_of)
    if [[ -f $venv/.made-of && $(<"$venv/.made-of") == "$wanted" ]]; then
        echo "up to date: $venv"
        return
    fi
    rm -rf "$venv"
    "$PYTHON" -m venv "$venv"
    # Python compiles what it imports, which is a small part of all that.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile \
        --requirement=/dev/stdin <<<"$requirements"
    echo "$wanted" >"$venv/.made-of"
    echo "made: $venv"
}

# wheel [--release] [--all-bridges]: the wheel in dist/, built when one of its files has changed.  The
# newest environment has to be there.
wheel() {
    "$(venv_of "${PYARROW[-1]}")/bin/python" ci/wheel.py "$@"
}

# install_wheel PYARROW_VERSION: into its virtual environment, unless it is there already.
install_wheel() {
    local venv wanted
    venv=$(venv_of "$1")
    wanted=$(cat dist/*.whl | digest_of)
    if [[ -f $venv/.wheel && $(<"$venv/.wheel") == "$wanted" ]]; then
        echo "up to date: $venv"
        return
    fi
    rm -f "$venv/.wheel"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --force-reinstall --no-deps --no-index dist/*.whl
    # Libraries that look for a driver themselves know this name only.
    mkdir -p "$venv/driver"
    ln -sf "$PWD/$venv"/lib/python3*/site-packages/pyarrow_cuda_compat/lib/libcuda_sim.so \
        "$venv/driver/libcuda.so.1"
    echo "$wanted" >"$venv/.wheel"
    echo "installed: $venv"
}

# Whether a driver finds a GPU here.
has_gpu() {
    "$PYTHON" - <<'END'
import ctypes
import sys

count = ctypes.c_int(0)
try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError:
    sys.exit(1)
found = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
sys.exit(not (found and count.value))
END
}
