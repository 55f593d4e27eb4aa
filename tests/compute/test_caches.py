"""What is kept between calls tells apart all that a result depends on."""

import ast
import math
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import cuda

import pyarrow_cuda_compat
from pyarrow_cuda_compat import _native

from .conftest import of

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()
PACKAGE = Path(pyarrow_cuda_compat.__file__).parent


class Mark(pa.ExtensionType):
    """A type of Python code, which cannot be hashed."""

    def __init__(self):
        super().__init__(pa.int64(), "tests.mark")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, _storage, _serialized):
        return cls()


def lists(name, **facts):
    return pa.list_(pa.field(name, pa.int32(), **facts))


#: Each differs from the others, most of them in what equality forgets.
DIFFERENT = [
    pa.int64(),
    Mark(),
    lists("item"),
    lists("element"),
    lists("item", nullable=False),
    lists("item", metadata={"a": "b"}),
    pa.struct([("x", lists("item"))]),
    pa.struct([("x", lists("element"))]),
    pa.dictionary(pa.int32(), lists("item")),
    pa.dictionary(pa.int32(), lists("element")),
    pa.schema([("a", pa.int64())]),
    pa.schema([("a", pa.int64())], metadata={"s": "1"}),
    pa.schema([("a", pa.int64())], metadata={"s": "2"}),
    pa.schema([pa.field("a", pa.int64(), nullable=False)]),
    pa.schema([pa.field("a", pa.int64(), metadata={"f": "1"})]),
    pa.schema([("a", Mark())]),
    # The same bytes.
    pa.schema(
        [
            pa.field(
                "a",
                pa.int64(),
                metadata={"ARROW:extension:metadata": "", "ARROW:extension:name": "tests.mark"},
            )
        ]
    ),
    pa.schema([("a", lists("item"))]),
    pa.schema([("a", lists("element"))]),
    0,
    0.0,
    -0.0,
    False,
    None,
    "0",
    b"0",
    (0,),
    [0],
]


def test_keys_differ_where_something_does(cudf):
    exact = of("caches").exact
    keys = [exact(part) for part in DIFFERENT]
    assert len(set(keys)) == len(DIFFERENT)
    assert keys == [exact(part) for part in DIFFERENT]


def test_without_an_exact_key_nothing_is_kept(cudf):
    cache = of("caches").Cache(2)
    for part in (math.nan, object(), {1}, pa.scalar(1), type("Text", (str,), {})("a")):
        for result in (1, 2):
            assert cache.get(lambda result=result: result, part) == result
    assert [cache.get(lambda place=place: place, place) for place in (1, 2, 3)] == [1, 2, 3]
    assert [cache.find(place) for place in (1, 2, 3)] == [None, None, 3]


TABLES = [
    pa.table({"a": [1, 2], "v": pa.array([[1], [2]], lists(name, metadata=facts))}).cast(
        pa.schema(
            [
                pa.field("a", pa.int64(), metadata=facts),
                pa.field("v", lists(name, metadata=facts)),
            ]
        )
    )
    for name, facts in (("item", None), ("element", {"x": "1"}), ("element", {"x": "2"}))
]


@pytest.mark.parametrize(
    "call",
    [
        lambda it, _: it.filter(pc.field("a") > 1),
        lambda it, there: it.take(there(pa.array([1]))),
        lambda it, there: it.to_batches()[0].filter(there(pa.array([True, False]))),
        lambda it, there: it.columns[-1].take(there(pa.array([1, 0]))),
        lambda it, _: it.drop_null(),
        lambda it, _: it.select(["a"]).join(it.select(["a"]), "a", join_type="left semi"),
        lambda it, _: it.select(["a"]).group_by("a").aggregate([("a", "max")]),
    ],
)
def test_results_have_the_names_and_metadata_of_their_arguments(there, call):
    for table in (*(it.select(["a"]) for it in TABLES), *TABLES, *TABLES):
        expected = call(table, lambda it: it)
        found = call(there(table), there)
        if isinstance(found, pa.ChunkedArray):
            assert found.type.equals(expected.type, check_metadata=True)
        else:
            assert found.schema.equals(expected.schema, check_metadata=True)
            for column, field in zip(found.columns, found.schema, strict=True):
                assert column.type.equals(field.type, check_metadata=True)
        assert found.copy_to(HOST).num_rows if isinstance(found, pa.Table) else True


def test_scalars_keep_their_bits(there, cudf):
    columns = of("columns")

    def kept(scalar):
        _native._computing(here, lambda: made.append(columns.scalar_of(scalar)))
        return made[-1]

    made, here = [], [there(pa.array([0]))]
    negative = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
    for number in (0.0, -0.0, math.nan, negative):
        scalar = pa.scalar(number)
        found = kept(scalar).to_arrow().as_py()
        assert struct.pack("<d", found) == struct.pack("<d", number)
    assert kept(pa.scalar(1, pa.int8())).to_arrow().type == pa.int8()
    assert kept(pa.scalar(1, pa.int64())) is kept(pa.scalar(1, pa.int64()))
    assert kept(pa.scalar(True)).to_arrow().equals(pa.scalar(True))


def test_no_scalar_of_a_device_is_kept_without_its_context(there, cudf):
    made = []
    for context in (cuda.Context(0), cuda.Context(1)):
        _native._computing(
            [pa.array([0]).copy_to(context)],
            lambda: made.append(of("columns").scalar_of(pa.scalar(1, pa.int64()))),
        )
    assert made[0] is not made[1]
    assert made[0].to_py() == made[1].to_py()


def test_a_call_is_planned_once(there, cudf):
    array, plans = there(pa.array([[1], [2]], lists("item"))), of("dispatch")._plans
    plans.clear()
    for _ in range(2):
        array.take(there(pa.array([0])))
    assert len(plans._results) == 1


def test_options_that_differ_in_what_equality_forgets(there, cudf):
    options_of = of("calls").options_of
    cast = pc.get_function("cast")
    for name in ("item", "element"):
        _, options = options_of(cast, pc.CastOptions.safe(lists(name)))
        assert options["to_type"].value_field.name == name
    quantile = pc.get_function("quantile")
    for zero in (0.0, -0.0):
        _, options = options_of(quantile, pc.QuantileOptions(q=[zero]))
        assert math.copysign(1, options["q"][0]) == math.copysign(1, zero)


def test_types_of_python_code_are_refused(there):
    storage = pa.array([1, 2])
    array = there(pa.ExtensionArray.from_storage(Mark(), storage))
    table = pa.table({"m": array, "a": there(storage)})
    for call in (
        lambda: pc.is_null(array),
        lambda: pc.add(array, 1),
        lambda: array.take(there(storage)),
        lambda: table.filter(pc.field("a") > 1),
        lambda: table.filter(there(pa.array([True, False]))),
        lambda: table.sort_by("a"),
        lambda: table.group_by("m").aggregate([("a", "sum")]),
        lambda: table.join(table.select(["a"]), "a"),
    ):
        with pytest.raises(NotImplementedError, match=r"of type extension<tests.mark"):
            call()


#: Arguments that a kept function may have: equality forgets nothing of these.
_EXACT = {"str", "bytes", "int", "bool"}
#: Kept by the identity of a class or a module, or by a NumPy type without members.
_BY_IDENTITY = {"_with_value", "_class_of", "type_of"}


def test_no_function_is_kept_by_what_equality_forgets():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        uses = [it for it in names if it.id in ("cache", "lru_cache")]
        decorators = []
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef):
                continue
            ours = [each for each in node.decorator_list if uses_of(each) & {*map(id, uses)}]
            decorators += ours
            if ours and node.name not in _BY_IDENTITY:
                kinds = {ast.unparse(it.annotation) for it in node.args.args}
                assert kinds <= _EXACT, f"{path}: {node.name} is kept by {kinds}: use `caches`"
            found |= {node.name} if ours else set()
        if path.name != "caches.py":
            assert len(decorators) == len(uses), f"{path}: use `caches`"
    assert {*_BY_IDENTITY, "decoded", "parsed"} <= found


def uses_of(node):
    return {id(each) for each in ast.walk(node)}


def test_no_dict_of_compute_is_a_cache_of_its_own():
    """Those that are filled by programs are named here; `caches` makes the others."""
    found = {}
    for path in (PACKAGE / "_cudf").rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AnnAssign) and ast.unparse(value or node) == "{}":
                found[ast.unparse(getattr(node, "target", None) or node.targets[0])] = path.stem
    assert found == {
        "_conversions": "conversions",
        "_last": "calls",
        "_processes": "process",
        "_shared": "rmm_resource",
        "KERNELS": "registry",
    }
