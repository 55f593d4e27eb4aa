# The command that tells what is installed and which devices there are.
# shows: additions, Commands
#   python -m pyarrow_cuda_compat info: prints the installed versions and the devices, as text or
#     JSON
import json
import platform
import subprocess
import sys

import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat

command = [sys.executable, "-P", "-m", "pyarrow_cuda_compat", "info"]


def run(*options):
    return subprocess.run([*command, *options], capture_output=True, text=True, check=True).stdout


facts = json.loads(run("--json"))
facts["version"] == pyarrow_cuda_compat.__version__
facts["pyarrow"]["version"] == pa.__version__, facts["pyarrow"]["pyarrow.cuda"]
facts["python"] == platform.python_version()
len(facts["devices"]) == cuda.Context.get_num_devices()
facts["devices"][0]["name"] in repr(cuda.Context(0).device)
type(facts["driver"]["simulated"])
# Without the option, the facts are printed as text.
pa.__version__ in run()
