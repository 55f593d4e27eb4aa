"""Builds the bridge against one installed pyarrow.

    python3 build.py --pyarrow DIR --out FILE

CXX names the compiler (g++), CXXFLAGS adds to its options.
DIR is the directory of the `pyarrow` package, with its `include` folder and `libarrow.so.NNNN`.
The library depends on that exact soname, which the imported pyarrow has loaded by then, so it
carries no search path of its own.  What is unchanged since the last time is not compiled again.
"""

import argparse
import hashlib
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPORT = "arrow_cuda_bridge_api"
JOBS = 2
COMPILE = [
    "-std=c++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden",
    "-Wall", "-Wextra",
]  # fmt: skip
# Templates of the standard library are visible whatever the flags say: only the list hides them.
VERSION_SCRIPT = f"{{ global: {EXPORT}; local: *; }};\n"
ADVICE = "install g++, or set CXX to another compiler of C++20"
LINK = ["-shared", "-Wl,-z,defs", "-Wl,-z,relro,-z,now"]


def compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX", "g++"))


def flags() -> list[str]:
    """Options for compiling; ``CXXFLAGS`` adds to them."""
    return COMPILE + shlex.split(os.environ.get("CXXFLAGS", ""))


def run(command: list[str], text: str = "") -> str:
    """What the command prints, if it is given that text."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True)
    except OSError as error:
        raise RuntimeError(f"cannot run {command[0]}: {error.strerror}; {ADVICE}") from None
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_compiler() -> None:
    """Compiles a line with a header of C++20."""
    cxx = compiler()
    run([*cxx, "--version"])
    try:
        run([*cxx, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"], "#include <span>\n")
    except RuntimeError:
        raise RuntimeError(f"{shlex.join(cxx)} does not compile C++20: {ADVICE}") from None


def digest(*parts: bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()


def libarrow(pyarrow_dir: Path) -> Path:
    found = sorted(pyarrow_dir.glob("libarrow.so.[0-9]*"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise RuntimeError(f"expected one libarrow.so.NNNN in {pyarrow_dir}, found {names}")
    return found[0]


def name_for(pyarrow_dir: Path) -> str:
    """The bridge's file name: libarrow's number is in it, such as 2600 for Arrow 26.0."""
    return f"libarrow_bridge_{libarrow(Path(pyarrow_dir)).name.rsplit('.', 1)[1]}.so"


def check_exports(library: Path) -> None:
    lines = run(["nm", "-D", "--defined-only", str(library)]).splitlines()
    names = [line.split()[-1] for line in lines]
    if names != [EXPORT]:
        raise RuntimeError(f"{library} should export {EXPORT} only, but exports {names}")


def build(pyarrow_dir: Path, out: Path, cache: Path) -> bool:
    """Brings `out` up to date, with objects kept in `cache`; whether anything had to be done."""
    pyarrow_dir, out = Path(pyarrow_dir), Path(out)
    arrow = libarrow(pyarrow_dir)
    include = pyarrow_dir / "include"
    cache = Path(cache) / arrow.name
    cxx = compiler()

    own_headers = [path.read_bytes() for path in sorted(HERE.rglob("*.h"))]
    arrow_version = (include / "arrow" / "util" / "config.h").read_bytes()
    commands = shlex.join([*cxx, *flags(), *LINK, VERSION_SCRIPT]).encode()
    common = digest(run([*cxx, "--version"]).encode(), commands, arrow_version, *own_headers)

    objects = {}
    for source in sorted(HERE.rglob("*.cc")):
        key = digest(common.encode(), source.read_bytes())
        # Two folders may have files of one name.
        name = "-".join(source.relative_to(HERE).with_suffix("").parts)
        objects[source] = cache / f"{name}-{key[:24]}.o"

    stamp = out.with_name(out.name + ".stamp")
    stamp_text = digest(arrow.name.encode(), *(path.name.encode() for path in objects.values()))
    if out.exists() and stamp.exists() and stamp.read_text() == stamp_text:
        return False

    cache.mkdir(parents=True, exist_ok=True)
    for stale in set(cache.glob("*.o")) - set(objects.values()):
        stale.unlink()

    def compile_one(source: Path, target: Path) -> None:
        # A name of its own until it is whole: an interrupted build leaves no half object.
        partial = target.with_suffix(f".{os.getpid()}.partial")
        folders = ["-I", str(HERE), "-isystem", str(include)]
        run([*cxx, *flags(), *folders, "-c", str(source), "-o", str(partial)])
        partial.replace(target)

    missing = [(source, target) for source, target in objects.items() if not target.exists()]
    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(lambda pair: compile_one(*pair), missing))

    out.parent.mkdir(parents=True, exist_ok=True)
    script = cache / "exports.map"
    script.write_text(VERSION_SCRIPT)
    partial = out.with_name(f"{out.name}.{os.getpid()}.partial")
    run([
        *cxx, *LINK, f"-Wl,--version-script={script}", f"-Wl,-soname,{out.name}",
        *(str(path) for path in objects.values()),
        f"-L{pyarrow_dir}", f"-l:{arrow.name}", "-o", str(partial),
    ])  # fmt: skip
    check_exports(partial)
    partial.replace(out)
    stamp.write_text(stamp_text)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyarrow", type=Path, required=True, help="the pyarrow package's folder")
    parser.add_argument("--out", type=Path, required=True, help="the shared library to make")
    parser.add_argument("--cache", type=Path, help="where objects are kept (beside --out)")
    args = parser.parse_args()
    cache = args.cache or args.out.parent / "objects"
    try:
        changed = build(args.pyarrow, args.out, cache)
    except RuntimeError as error:
        raise SystemExit(f"build.py: {error}") from None
    print(f"{'built' if changed else 'up to date'}: {args.out}")


if __name__ == "__main__":
    main()
