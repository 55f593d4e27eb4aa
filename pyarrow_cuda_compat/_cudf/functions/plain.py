"""Functions of one argument that libcudf has as they are."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..registry import kernel
from ..types import ANY, BYTES, TEXTS, cudf_type


@kernel(f"{ANY} view", is_valid="unary.is_valid")
@kernel(TEXTS, utf8_length="strings.attributes.count_characters")
@kernel(BYTES, binary_length="strings.attributes.count_bytes")
@kernel("list large_list", list_value_length="lists.count_elements")
def libcudf_function(call: Call, name: str) -> Any:
    return op.cast(attrgetter(name)(plc)(call.value), cudf_type(call.type))


@kernel("bool", invert="NOT")
@kernel("int", bit_wise_not="BIT_INVERT")
def unary_operator(call: Call, name: str) -> Any:
    return op.unary(name, call.value)
