# Installed versions and devices, from within a program.
# shows: additions, Commands
#   show_config: prints the same from within a program, without a context on the devices
#   show_config(mode): whether to print it or to return it
import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat
from pyarrow_cuda_compat import show_config

facts = show_config(mode="dicts")
list(facts)
facts["version"] == pyarrow_cuda_compat.__version__
facts["pyarrow"]["version"] == pa.__version__
len(facts["devices"]) == cuda.Context.get_num_devices()
facts["devices"][0]["name"] in repr(cuda.Context(0).device)
show_config(mode="json")
