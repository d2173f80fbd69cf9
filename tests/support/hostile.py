"""Malicious values, as JSON and as TOML, and every field of a type that can have them."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields

from tests.conftest import LONG

T = TypeVar("T")

NUMBERS = (
    *(2**31, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**40, 10**400, 10**5000),
    *(-1, -(2**31), -(2**53), -(2**63), -(2**63) - 1, -(10**400)),
)
FLOATS = (
    "0.1",
    "-0.0",
    "1e-400",
    "5e-324",
    "1e18",
    "1e22",
    "1.7976931348623157e308",
    "1e309",
    "-1e309",
    "9" * 400 + ".5",
)
TEXTS = (
    "",
    "\0",
    "\ufeff",
    "\u202e",
    "a" * 20_000,
    "7" * 400,
    "NaN",
    "1e999",
    "0x10",
    "../..",
    "%s",
    "{}",
    "Ⅷ",
    "²",
)

JSON: tuple[bytes, ...] = (
    *(f"1{'0' * digits}".encode() for digits in (400, 4999)),
    *(str(number).encode() for number in NUMBERS if abs(number) < 10**1000),
    *(number.encode() for number in FLOATS),
    *(
        b"NaN",
        b"nan",
        b"Infinity",
        b"-Infinity",
        b"inf",
        b"+1",
        b"01",
        b"0x10",
        b"1_000",
        b"--1",
        b"1e",
        b".",
    ),
    *(json.dumps(text).encode() for text in TEXTS),
    *(b'"\\ud800"', b'"\xff"', b"null", b"true", b"[]", b"{}", b'{"":1}', b'[{"type":1}]'),
    *(b"[" * depth + b"]" * depth for depth in (2, 17, 500, 5000)),
    *(b'{"a":' * depth + b"1" + b"}" * depth for depth in (17, 500, 5000)),
    *(b"[" * 20_000, b'{"a":' * 5000),
    *(
        b"[" + b",".join([value] * 1001) + b"]"
        for value in (b"1", b"9" * 30, b'"Ah"', b"1e308", b"null")
    ),
)
"""Pieces of JSON, valid and invalid."""

TOML: tuple[str, ...] = (
    *(str(number) for number in NUMBERS if abs(number) < 10**1000),
    *("1" + "0" * 5000, *FLOATS, "nan", "-nan", "inf", "-inf", "0x" + "f" * 40, "1_000", "01"),
    *(json.dumps(text) for text in TEXTS),
    *(
        "true",
        "[]",
        "{}",
        '{ "" = 1 }',
        "1979-05-27",
        "07:32:00",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59+23:59",
    ),
    *("[" * depth + "]" * depth for depth in (2, 17, 40, 500)),
    "{a=" * 40 + "1" + "}" * 40,
    f"[{', '.join(['9' * 30] * 200)}]",
    f"[{', '.join(['{}'] * 200)}]",
)
"""Pieces of TOML, valid and invalid."""


def in_turn(pieces: Sequence[T], turn: int) -> Sequence[T]:
    """Each sixth of them in turn in the short form, and all of them in the long one."""
    return pieces[turn % 6 :: 6] if LONG not in os.environ else pieces


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.integers(-(2**80), 2**80)
    | st.text(max_size=20),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=8), inside, max_size=4)
    ),
    max_leaves=12,
)
"""Any value, NaN and infinities among them."""


def sample(kind: Any) -> Any:
    """A valid value of a type, as JSON: for a struct, with its required fields."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        meta = parts[1]
        return (
            meta.ge if isinstance(meta, msgspec.Meta) and meta.ge is not None else sample(parts[0])
        )
    if isinstance(kind, type) and issubclass(kind, Struct):
        tag = kind.__struct_config__.tag
        told = {} if tag is None else {kind.__struct_config__.tag_field: tag}
        return told | {
            field.encode_name: sample(field.type) for field in fields(kind) if field.required
        }
    if origin is Literal:
        return parts[0]
    if origin in (Union, UnionType):
        return sample(parts[0])
    plain: dict[Any, Any] = {
        int: 1,
        float: 1.0,
        str: "x",
        bytes: "",
        bool: True,
        tuple: [],
        list: [],
        dict: {},
        type(None): None,
    }
    return plain.get(origin or kind)


def spoiled(
    kind: type[Struct], *more: str, without: Collection[str] = (), **right: Any
) -> Iterator[tuple[str, bytes]]:
    """A struct as a line of JSON, with each of its fields, and ``more``, spoiled in each way in
    turn: in the short form each in a third of them.

    ``without``: fields that are left out; ``right``: values that a sample would get wrong.
    """
    whole = {key: value for key, value in (sample(kind) | right).items() if key not in without}
    names = [field.encode_name for field in fields(kind) if field.encode_name not in without]
    for turn, name in enumerate([*names, *more, "of_another_release"]):
        others = {key: value for key, value in whole.items() if key != name}
        begins = b"{" + b"".join(
            json.dumps(key).encode() + b":" + json.dumps(value).encode() + b","
            for key, value in others.items()
        )
        for value in in_turn(JSON, turn):
            yield name, begins + json.dumps(name).encode() + b":" + value + b"}"


def numbers(value: Any) -> Iterator[int | float]:
    """Every number in what was read from JSON."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
