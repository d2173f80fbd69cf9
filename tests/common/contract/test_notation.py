"""Input lines, and the errors for wrong ones."""

from __future__ import annotations

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.contract.notation import mark_historical, read_input
from tests.support.for_each import for_each


@for_each(
    ("line", "message"),
    [
        (
            '{"at":1,"type":"wheel.phase","phase":"bets_opne"}',
            "phase: unknown value 'bets_opne'; there are: closed, idle, bets_open, ",
        ),
        (
            '{"at":1,"type":"wheel.phase","phase":"idle","spn":1}',
            "unknown key spn; did you mean `spin`?",
        ),
        (
            '{"at":1,"type":"wheel.phse"}',
            "type: unknown value 'wheel.phse'; did you mean wheel.phase?",
        ),
        (
            '{"at":1,"type":"session.open","by":"x","role":"boss"}',
            "role: unknown value 'boss'; there are: croupier, table_head",
        ),
        ('{"at":1,"type":["session.open"]}', "type: expected text; did you mean session.open?"),
        ("7", "expected an object, got a whole number"),
    ],
)
def test_the_error_states_the_right_form(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        read_input(line)


lists = st.lists(st.integers() | st.none(), max_size=2)
objects = st.dictionaries(
    st.sampled_from(["type", "at", "by", "role"]), st.sampled_from(["wheel.phase", "x", 1]) | lists
)


@given(st.binary() | (objects | lists).map(json.dumps).map(str.encode))
def test_no_line_raises_anything_else(line: bytes) -> None:
    with suppress(ValueError):
        read_input(line)


def test_a_republished_event_stays_as_another_release_wrote_it() -> None:
    line = b'{"type":"bet.placed","who":"box:5","bet":"jackpot","lies":false,"round":1}'
    assert json.loads(mark_historical(line)) == {**json.loads(line), "historical": True}
    with pytest.raises(ValueError, match="array"):
        mark_historical(b"[]")
