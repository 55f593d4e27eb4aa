"""``python -m writers FOLDER``: the libraries in the folder write, and this package reads it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from . import samples
from .read import BOTH_REFUSE, DIFFERENT, EQUAL, REFUSED, compared

HERE = Path(__file__).parent
#: The worst first.
VERDICTS = (DIFFERENT, REFUSED, BOTH_REFUSE, EQUAL)
WRONG = (DIFFERENT, REFUSED)


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    samples.write(fresh(folder / "samples"))
    pins = [line.split() for line in (HERE / "pins.txt").open() if not line.startswith("#")]
    fails = False
    rows = [("writer", "files", *reversed(VERDICTS))]
    for name, least, *_ in pins:
        counts = judged(name, write(name, folder))
        rows.append((name, counts.total(), *(counts[it] for it in reversed(VERDICTS))))
        if lacks := counts.total() < int(least):
            print(f"{name}: wrote {counts.total()} files, which should be {least} or more")
        fails |= lacks or any(counts[it] for it in WRONG)
    for name, *columns in rows:
        print(f"{name:20}", *(f"{it:>16}" for it in columns))
    return fails


def write(name: str, folder: Path) -> Path:
    """Has a library write its files, and returns their folder."""
    place, files = folder / name, fresh(folder / "files" / name)
    if (modules := place / "node_modules").is_dir():
        program = ["node", HERE / "write.mjs", modules]
    else:
        program = [place / "bin" / "python", HERE / "write.py", name.partition("-")[0]]
    log = folder / f"{name}.log"
    with log.open("w") as output:
        command = [*program, folder / "samples", files]
        status = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT).returncode
    if status:
        sys.exit(f"{name} ended with {status}: {log}")
    return files


def judged(name: str, files: Path) -> Counter[str]:
    """Counts the files by their worst verdict, and prints the wrong ones by reason."""
    counts: Counter[str] = Counter()
    wrong = defaultdict(list)
    for path in sorted(files.iterdir()):
        found = list(compared(path))
        counts[min((verdict for _, verdict, _ in found), key=VERDICTS.index)] += 1
        for way, verdict, why in found:
            if verdict in WRONG:
                wrong[way, verdict, why].append(path.name)
    for (way, verdict, why), names in wrong.items():
        print(f"{name}, {way}: {len(names)} {verdict}: {why}\n    {', '.join(names[:4])}")
    return counts


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


if __name__ == "__main__":
    sys.exit(main())
