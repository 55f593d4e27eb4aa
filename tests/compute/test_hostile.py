"""Arguments whose own code reads the data that a method of pyarrow hands to libcudf."""

from contextlib import suppress

import pyarrow as pa
import pytest

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]


class Reader:
    """Has pyarrow show data as host memory wherever it, or Python, asks for something."""

    def __init__(self, read):
        self.read, self.refused = read, 0

    def _asked(self, answer):
        # Where nothing is refused, this gives addresses of the data, and does not read there.
        with pytest.raises(NotImplementedError, match="Implemented only for data on CPU"):
            self.read()
        self.refused += 1
        return answer

    def __iter__(self):
        return iter(self._asked([("x", "ascending")]))

    def __len__(self):
        return self._asked(1)

    def __getitem__(self, place):
        return self._asked([("x", "ascending")])[place]

    def __bool__(self):
        return self._asked(True)

    def __index__(self):
        return self._asked(1)

    def __float__(self):
        return self._asked(1.0)

    def __str__(self):
        return self._asked("x")

    def __repr__(self):
        return self._asked("x")

    def __hash__(self):
        return self._asked(1)

    def __eq__(self, other):
        return self._asked(False)

    def __arrow_c_array__(self, schema=None):
        return self._asked(pa.array([0])).__arrow_c_array__(schema)


_CALLS = {
    "take": lambda data, it: data.take(it),
    "filter": lambda data, it: data.filter(it),
    "fill_null": lambda data, it: data.fill_null(it),
    "index": lambda data, it: data.index(it),
    "sort": lambda data, it: data.sort(it),
    "is_null": lambda data, it: data.is_null(nan_is_null=it),
    "dictionary_encode": lambda data, it: data.dictionary_encode(it),
    "sum": lambda data, it: data.sum(skip_nulls=it),
    "sort_by": lambda data, it: data.sort_by(it),
    "join": lambda data, it: data.join(data, it),
}


def _views_of(data):
    """Columns of pandas over the memory of a batch or table, which it does not read."""
    return data.to_pandas(split_blocks=True, zero_copy_only=True)


@pytest.mark.parametrize("kind", ["array", "chunks", "batch", "table"])
@pytest.mark.parametrize("name", _CALLS)
def test_trust_ends_before_code_of_the_caller(there, kind, name):
    array = there(pa.array([1, 2, 3]))
    batch = pa.record_batch({"x": array})
    data = {
        "array": (array, array.to_numpy),
        "chunks": (chunks := pa.chunked_array([array]), chunks.to_numpy),
        "batch": (batch, lambda: _views_of(batch)),
        "table": (table := pa.Table.from_batches([batch]), lambda: _views_of(table)),
    }
    owner, read = data[kind]
    if not hasattr(owner, name):
        return
    reader = Reader(read)
    with suppress(TypeError, ValueError, NotImplementedError):  # pyarrow takes no such argument
        _CALLS[name](owner, reader)
    assert reader.refused
    with pytest.raises(NotImplementedError):
        read()


@pytest.mark.skipif(not hasattr(pa.Array, "__add__"), reason="pyarrow 25 and later have operators")
def test_trust_of_an_operator_ends(there):
    array = there(pa.array([1, 2, 3]))
    reader = Reader(array.to_numpy)
    with pytest.raises(TypeError, match="unsupported operand type"):
        array + reader
    assert reader.refused


def test_items_of_a_generator_come_after_the_trust(there):
    batch = there(pa.record_batch({"x": [3, 1, 2]}))

    def keys():
        with pytest.raises(NotImplementedError):
            _views_of(batch)
        yield "x", "descending"

    host = pa.default_cpu_memory_manager()
    assert batch.sort_by(keys()).copy_to(host).to_pydict() == {"x": [3, 2, 1]}


@pytest.mark.parametrize("kind", ["array", "chunks"])
def test_trust_of_a_slice_ends(there, kind):
    array = there(pa.array([1, 2, 3]))
    data = {"array": array, "chunks": pa.chunked_array([array])}[kind]
    reader = Reader(data.to_numpy)
    assert len(data[reader:]) == 2
    assert reader.refused
    with pytest.raises(NotImplementedError, match="Implemented only for data on CPU"):
        data[reader]
