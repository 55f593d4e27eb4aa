"""Functions of one argument that libcudf has as they are."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..kinds import ANY, cudf_type
from ..registry import rows


@rows(ANY, is_valid="unary.is_valid")
@rows("string", utf8_length="strings.attributes.count_characters")
@rows("string", binary_length="strings.attributes.count_bytes")
@rows("list", list_value_length="lists.count_elements")
def function(call: Call, name: str) -> Any:
    return op.cast(attrgetter(name)(plc)(call.value), cudf_type(call.type))


@rows("bool", invert="NOT")
@rows("int", bit_wise_not="BIT_INVERT")
def operator(call: Call, name: str) -> Any:
    return op.unary(name, call.value)
