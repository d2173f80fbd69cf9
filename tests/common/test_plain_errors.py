"""An error that people read names the field and what was expected, in no library's words."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from common.plain_errors import NESTED_TOO_DEEPLY, describe

Id = Annotated[str, Meta(pattern=r"^[a-z]+\Z", description="letters a to z")]


class Pocket(msgspec.Struct, forbid_unknown_fields=True):
    number: Annotated[int, Meta(ge=0, le=36)]
    colour: Literal["red", "black"] | None = None


class Table(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    id: Id
    name: Annotated[str, Meta(max_length=5)] = ""
    minimum: int | None = None
    open: bool = False
    pace: Annotated[float, Meta(gt=0)] = 1.0
    pockets: Annotated[tuple[Pocket, ...], Meta(max_length=3)] = ()
    pair: tuple[int, str] = (1, "")
    limits: dict[Id, int] = {}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"id": "Ä"}, "id: expected letters a to z"),
        ({"id": 7}, "id: expected text, got a whole number"),
        ({}, "the key id is missing"),
        ({"id": "a", "name": "abcdef"}, "name: expected 5 characters at most"),
        ({"id": "a", "minimum": 5.5}, "minimum: expected a whole number or null, got a number"),
        ({"id": "a", "open": "yes"}, "open: expected true or false, got text"),
        ({"id": "a", "pace": 0.0}, "pace: expected more than 0.0"),
        ({"id": "a", "minimun": 5}, "unknown key minimun; did you mean `minimum`?"),
        ({"id": "a", "pockets": {}}, "pockets: expected a list, got an object"),
        ({"id": "a", "pockets": [{"number": 37}]}, "pockets[0].number: expected 36 or less"),
        ({"id": "a", "pockets": [{"number": -1}]}, "pockets[0].number: expected 0 or more"),
        (
            {"id": "a", "pockets": [{"number": 1, "colour": "green"}]},
            "pockets[0].colour: unknown value 'green'; there are: red, black",
        ),
        (
            {"id": "a", "pockets": [{"number": 1, "color": "red"}]},
            "pockets[0]: unknown key color; did you mean `colour`?",
        ),
        ({"id": "a", "pockets": [{}]}, "pockets[0]: the key number is missing"),
        ({"id": "a", "pockets": [{"number": 1}] * 4}, "pockets: expected 3 items at most"),
        ({"id": "a", "pair": [1]}, "pair: expected 2 items, got 1"),
        ({"id": "a", "pair": [1, 2]}, "pair[1]: expected text, got a whole number"),
        ({"id": "a", "limits": {"a": "x"}}, "limits: expected a whole number, got text"),
        ({"id": "a", "limits": {"1": 1}}, "a key of limits: expected letters a to z"),
        ([], "expected an object, got a list"),
    ],
)
def test_the_field_comes_first_and_what_was_expected_follows(value: Any, message: str) -> None:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.convert(value, Table)
    assert describe(caught.value, Table) == message


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
)
tables = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(Table.__struct_fields__, anything)
) | st.fixed_dictionaries({"id": st.just("a"), "pockets": st.lists(anything, max_size=4)})


@given(tables | anything)
def test_no_error_shows_a_type_or_path_of_the_library(value: Any) -> None:
    try:
        msgspec.json.decode(msgspec.json.encode(value), type=Table)
    except msgspec.ValidationError as error:
        shown = describe(error, Table)
        assert not re.search(r"`\$|regex|Expected|\b(int|str|float|bool)\b", shown), shown


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"a" 1}', "not JSON: expected ':', near byte 5"),
        (b'{"a":', "not JSON: it ends too early: close each bracket and quote"),
        (b'{"a":1}x', "not JSON: it has a second value, near byte 8"),
        (b"{a:1}", "not JSON: a name is not in double quotes, near byte 1"),
        (b'"\xff"', "not UTF-8 text"),
        (b"[" * 9999, NESTED_TOO_DEEPLY),
    ],
)
def test_text_that_is_no_json_is_described_by_what_is_wrong_where(
    body: bytes, message: str
) -> None:
    with pytest.raises((ValueError, RecursionError)) as caught:
        msgspec.json.decode(body)
    assert describe(caught.value) == message


@given(st.binary(max_size=40))
def test_no_error_of_json_shows_a_sentence_of_the_library(body: bytes) -> None:
    shown = ""
    try:
        msgspec.json.decode(body)
    except (ValueError, RecursionError) as error:
        shown = describe(error)
    assert not re.search(r"malformed|Input data|codec|recursion", shown)


def test_an_error_of_another_kind_keeps_its_text() -> None:
    assert describe(ValueError("the table has two wheels")) == "the table has two wheels"
