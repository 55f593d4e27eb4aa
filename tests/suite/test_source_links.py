"""The links of the API reference lead to the lines where things are declared."""

import re
import runpy
from pathlib import Path

import pytest

import pyarrow_cuda_compat
import pyarrow_cuda_compat.memory
import pyarrow_cuda_compat.pygpu

ROOT = Path(__file__).parents[2]
URL = "https://example.org/main"
# Made by calls, not declared.
MADE = {"OutOfMemoryError", "IpcArrayHandle"}

pytestmark = [
    pytest.mark.independent,
    pytest.mark.skipif(not (ROOT / "Cargo.toml").exists(), reason="needs a checkout"),
]


@pytest.fixture(scope="module")
def links():
    return runpy.run_path(str(ROOT / "docs" / "source_links.py"))["SourceLinks"](ROOT, URL)


def line_of(link):
    path, line = re.fullmatch(rf"{URL}/(.+)#L(\d+)", link).groups()
    return (ROOT / path).read_text().splitlines()[int(line) - 1]


@pytest.mark.parametrize("name", sorted({*pyarrow_cuda_compat.__all__} - MADE))
def test_every_public_name_is_found(links, name):
    line = line_of(links.place("pyarrow_cuda_compat", name))
    assert re.search(rf"\b{name}\b", line)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("CudaBuffer.slice", "buffers/cuda_buffer.rs"),
        ("Stream.wait", "streams/stream.rs"),
        ("Event.wait", "streams/event.rs"),
        ("DeviceArray.reshape", "device_array/views.rs"),
    ],
)
def test_members_are_found_in_the_files_of_their_class(links, name, file):
    link = links.place("pyarrow_cuda_compat", name)
    assert f"/crates/python/src/{file}#" in link
    assert f"fn {name.partition('.')[2]}" in line_of(link)


@pytest.mark.parametrize(
    ("module", "name"), [("memory", "to_device"), ("memory", "stream"), ("pygpu", "to_gpu")]
)
def test_names_of_python_are_found(links, module, name):
    assert f"def {name}(" in line_of(links.place(f"pyarrow_cuda_compat.{module}", name))


def test_what_is_not_ours_has_no_link(links):
    assert links.place("json", "loads") is None
    assert links.place("pyarrow_cuda_compat", "absent") is None
