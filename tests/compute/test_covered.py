"""Each cell of the page's table is true: what it names is answered, and all else is refused."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from . import covered, standin
from .conftest import back

README = Path(__file__).parents[2] / "README.md"

pytestmark = [
    pytest.mark.simulator,
    pytest.mark.independent,  # the page is about the newest pyarrow
    pytest.mark.usefixtures("libcudf"),
]


def names_in(cell):
    """The functions of a cell."""
    for part in cell.split("; "):
        before, _, after = part.partition(" with ")
        words = re.findall("`(.+?)`", before)
        if part.startswith("`utf8_` and"):
            yield from (f"{start}{it}" for start in words for it in re.findall("`(.+?)`", after))
        else:
            yield from words
            yield from (f"{it}_checked" for it in words if after == "`_checked`")


def types_in(cell):
    """The types of a cell."""
    cell = cell.removesuffix(covered.OF_ONE_TYPE).removesuffix(covered.OF_SEVERAL_TYPES)
    known = {covered.name_of(kind): {kind} for kind in covered.types()} | covered.words()
    parts = cell.split(", except ")
    wide, *less = (re.findall(r"`.+?`|[^`, ][^`,]*", part) for part in parts)
    found = set().union(*(known[word] for word in wide))
    return found.difference(*(known[word] for part in less for word in part))


@pytest.fixture
def cells(cudf):
    """For each function of the table except `cast`, the types that it names."""
    rows = [line.split("|")[2:4] for line in covered.table().splitlines()[2:-1]]
    return {name: types_in(it.strip()) for names, it in rows for name in names_in(names.strip())}


def outcome(name, given, chosen, there):
    """What pyarrow answers with data on the device, and whether the stand-in has all of it."""
    before = standin.LACKING.total()
    arguments = [it if isinstance(it, pa.Scalar) else there(it) for it in given]
    try:
        found = pc.call_function(name, arguments, chosen)
    except Exception as error:
        found = error
    is_whole = standin.LACKING.total() == before and "CUDF failure" not in str(found)
    return found, is_whole


def test_the_table_has_each_function_once(cells):
    rows = "".join(names for _, names, _ in covered.rows())
    assert cells.keys() == covered.kernels().keys()
    assert rows.count("`") // 2 < len(cells)  # those that differ in an end come together


def test_what_the_table_names_is_answered(cells, there):
    seen = 0
    for name, kinds in cells.items():
        assert kinds, name
        for kind in kinds:
            given, chosen = covered.call_of(name, kind)
            found, is_whole = outcome(name, given, chosen, there)
            if not is_whole:
                continue
            assert not isinstance(found, NotImplementedError), f"{name} of {kind}: {found}"
            if isinstance(found, Exception | pa.Scalar):
                continue
            assert back(found).equals(pc.call_function(name, given, chosen)), f"{name} of {kind}"
            seen += 1
    assert seen > 300


def test_what_the_table_does_not_name_is_refused(cells, there):
    for name, kinds in cells.items():
        for kind in {*covered.types(), covered.TABLES} - kinds:
            for given in covered.calls_with(name, kind):
                chosen = [*covered.options_for(name, given)][-1]
                if all(isinstance(it, pa.Scalar) or there(it).is_cpu for it in given):
                    continue  # nulls have no memory
                found, _ = outcome(name, given, chosen, there)
                errors = NotImplementedError, pa.ArrowException
                assert isinstance(found, errors), f"{name} of {kind}: {found!r}"


@pytest.mark.parametrize(
    ("wanted", "lacking", "text"),
    [
        (["numbers"], [], "numbers"),
        (["integers", "floating-point numbers"], [], "numbers"),
        (["integers", "booleans"], [], "booleans, integers"),
        (["flat"], ["durations"], "flat, except durations"),
        (["structs", "lists"], [], "lists, structs"),
        (["structs", "lists"], ["structs"], "lists"),
        (["all", "tables"], [], "all, tables"),
        (["all", "tables"], ["booleans", "lists"], "all, tables, except booleans, lists"),
    ],
)
def test_types_have_few_words(cudf, wanted, lacking, text):
    given = set().union(*map(covered.words().get, wanted))
    given -= set().union(*map(covered.words().get, lacking))
    assert covered.text_of(given) == text
    assert types_in(text) == given


def test_each_function_of_pyarrow_has_an_area():
    # Other tests register functions, whose names have spaces.
    listed = {name for name in pc.list_functions() if " " not in name}
    named = {name for name in listed if not name.startswith("hash_")}
    assert {name for name in named if covered.area_of(name) == "others"} <= {"random"}


def test_the_readme_counts_the_functions(cudf):
    count = covered.counts()["functions"]
    assert re.search(rf"\b{count}\s+functions of `pyarrow\.compute`", README.read_text())


def test_the_page_has_the_table():
    page = README.parent / "docs" / "functions.md"
    # `PYTHONPATH=tests python -P -m compute.covered docs/functions.md` writes it.
    assert page.read_text() == covered.filled(page.read_text())
