# The command that replays the documented examples with what is installed.
# shows: additions, Commands
#   python -m pyarrow_cuda_compat conformance: replays the documented examples, all or those with a
#     name, and prints the results as text or JSON
#   python -m pyarrow_cuda_compat conformance --list: the names and titles of the examples
import json
import subprocess
import sys
import tempfile

command = [sys.executable, "-P", "-m", "pyarrow_cuda_compat", "conformance"]


def run(*options):
    return subprocess.run([*command, *options], capture_output=True, text=True)


# All examples, each by its name and its title.
listed = run("--list")
names = [line.split()[0] for line in listed.stdout.splitlines()]
(listed.returncode, len(names) > 100, names == sorted(set(names)))
[line.split(maxsplit=1) for line in listed.stdout.splitlines() if "integration/contexts" in line]

# One of them, or those whose names begin so.
done = run("integration/contexts")
done.returncode
done.stdout.split()[:2]
done.stdout.splitlines()[-1]
run("files/read", "--list").stdout.split("files/")[1:3]

# The results, for programs.
with tempfile.NamedTemporaryFile() as file:
    run("cuda_buffer/size", "--json", file.name).returncode
    [(case["name"], case["status"]) for case in json.load(file)["cases"]]

# A name that no example has.
(run("no/such/example").returncode, run("no/such/example").stdout)
