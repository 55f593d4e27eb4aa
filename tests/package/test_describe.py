"""What the package tells of data: `describe`, and what notebooks show."""

import pickle
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import DeviceArray, describe

TABLE = pa.table({"x": [1, 2, None], "<s>": ["a", "b&", "c"]})


class Table(HTMLParser):
    """The texts of the cells of a table, row by row, and its caption."""

    def __init__(self, html):
        super().__init__()
        self.caption, self.rows, self.open = "", [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert not attrs
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "caption":
            self.caption += data
        else:
            self.rows[-1][-1] += data


def test_a_table_on_each_device(contexts):
    for number in range(len(contexts)):
        told = describe(TABLE.copy_to(number))
        assert (told.kind, told.device, told.rows) == ("Table", f"cuda:{number}", 3)
        assert told.nbytes == TABLE.nbytes
        assert [(it.name, it.type, it.null_count) for it in told.columns] == [
            ("x", pa.int64(), 1),
            ("<s>", pa.string(), 0),
        ]
        assert sum(it.nbytes for it in told.columns) == told.nbytes


def test_the_text_and_the_html_say_the_same():
    told = describe(TABLE.copy_to(0))
    title, *lines = repr(told).splitlines()
    table = Table(told._repr_html_())
    assert title == table.caption == f"Table on cuda:0: 3 rows, {TABLE.nbytes} bytes"
    assert [line.split() for line in lines] == table.rows
    assert table.rows[1:] == [["x", "int64", "25", "1"], ["<s>", "string", "16", "0"]]


def test_other_data():
    batch = TABLE.to_batches()[0]
    for data in (TABLE, batch, TABLE["x"], batch["x"]):
        host, there = describe(data), describe(data.copy_to(0))
        assert (host.device, there.device) == ("cpu", "cuda:0")
        assert (host.rows, host.nbytes, host.columns) == (there.rows, there.nbytes, there.columns)
    both = pa.chunked_array([batch["x"], batch["x"].copy_to(0)])
    assert describe(both).device == "cuda:0, cpu"
    assert describe(pa.table({})).columns == ()
    assert pickle.loads(pickle.dumps(told := describe(batch))) == told
    for data in (None, [1], "x", np.arange(3), compat.Context(0).new_buffer(1)):
        with pytest.raises(TypeError, match="describe takes a pyarrow Table"):
            describe(data)


def test_what_notebooks_show(contexts):
    number = len(contexts) - 1
    ctx = contexts[number]
    buf = ctx.new_buffer(12_345)
    table = Table(buf._repr_html_())
    assert table.caption == f"CudaBuffer on cuda:{number}"
    assert table.rows == [["size", "12,345 bytes"], ["mutable", "yes"]]
    table = Table(ctx._repr_html_())
    assert table.caption == f"Context on cuda:{number}"
    assert ["allocated", f"{ctx.bytes_allocated:,} bytes"] in table.rows
    array = DeviceArray.from_host(np.zeros((2, 3), "f4"), context=ctx)
    assert Table(array._repr_html_()).rows[:2] == [["shape", "(2, 3)"], ["dtype", "float32"]]
    column = DeviceArray.from_arrow(pa.array([1]).copy_to(ctx))
    assert ["Arrow's type", "int64"] in Table(column._repr_html_()).rows
    del buf, array, column
