# Arrow's types become what Arrow stores, and are the same types again afterwards.
# shows: additions, Device arrays and Arrow
#   DeviceArray.from_arrow: the values of an Arrow array without a copy, as Arrow stores them
#   DeviceArray.to_arrow: an equal Arrow array over the same memory
#   DeviceArray.to_arrow: another type for the same bytes; others are refused
import datetime
import decimal
import pickle

import numpy as np
import pyarrow as pa

from pyarrow_cuda_compat import DeviceArray

host = pa.default_cpu_memory_manager()
day = datetime.date(2026, 1, 2)
for values, kind in [
    ([1, 2], pa.uint16()),
    ([1.5, 2.5], pa.float16()),
    ([day], pa.date32()),
    ([datetime.time(1, 2, 3)], pa.time64("us")),
    ([datetime.datetime(2026, 1, 2)], pa.timestamp("ns", "UTC")),
    ([datetime.timedelta(seconds=5)], pa.duration("s")),
    ([decimal.Decimal("1.25")], pa.decimal64(5, 2)),
    ([decimal.Decimal("-1.25")], pa.decimal128(5, 2)),
    ([pa.MonthDayNano([1, 2, 3])], pa.month_day_nano_interval()),
    ([True, False, True], pa.bool_()),
    ([b"abc", b"def"], pa.binary(3)),
    ([[1, 2], [3, 4]], pa.list_(pa.int8(), 2)),
    ([[1, 2], [3, 4]], pa.list_(pa.field("part", pa.int8(), nullable=False), 2)),
]:
    array = pa.array(values, kind)
    there = DeviceArray.from_arrow(array)
    back = there.to_arrow().copy_to(host)
    print(kind, there.dtype, there.shape, there.copy_to_host().tolist(), back == array)

later = DeviceArray.from_arrow(pa.array([1, 2, 3], pa.date32())[1:])
again = pickle.loads(pickle.dumps(later))
(later.copy_to_host(), again.dtype, again.arrow_type, again.copy_to_host())
# Other types for the same bytes.
seconds = DeviceArray.from_host([0, 60])
seconds.to_arrow(pa.timestamp("s")).copy_to(host).to_pylist()
DeviceArray.from_host([1 + 2j]).to_arrow(pa.list_(pa.float64(), 2)).copy_to(host).to_pylist()
seconds.reshape(1, 2).to_arrow().type
# Types whose elements have no fixed size, or that NumPy lacks.
DeviceArray.from_arrow(pa.array(["text"]))
DeviceArray.from_arrow(pa.array([{"a": 1}]))
DeviceArray.from_arrow(pa.array([b""], pa.binary(0)))
seconds.to_arrow(pa.int32())
DeviceArray.from_host([True]).to_arrow()
DeviceArray.from_host([1j]).to_arrow()
seconds[::-1].to_arrow()
DeviceArray.from_host(np.zeros(2, [("a", "i4")])).to_arrow()
