"""Profiles of messages in JSON: paths, what is no message, and what a hostile sender may try."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.readings import AnyReading, DiceRead, LinkGarbage, WheelNumber, escape
from devices.profiles.json_messages import MAX_DEPTH, message_line, read_message
from tests.support.devices.described import mistakes, proof

TEXTS = st.text(st.characters(exclude_characters="."), max_size=8)
LEAF = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
DOCUMENTS = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def line(payload: bytes, topic: str = "response", stored: int = 0) -> bytes:
    """A line of the link ``mqtt://``."""
    return f"{topic} {stored} {escape(payload)}\n".encode("ascii")


def sent(document: Any, name: str = "idp-roulette", **parts: Any) -> list[AnyReading]:
    return proof(name).feed(line(json.dumps(document).encode(), **parts), 9.0)


def result(res: Any, err: Any = 0, **more: Any) -> dict[str, Any]:
    return {"response": "result", "arg": {"res": res, "err": err, **more}}


def test_values_are_found_by_their_paths() -> None:
    text = b'{"a": {"b": [1, "x", true, null]}, "c": 2.50, "d": "\\ud800"}'
    message = read_message(line(text, "some/topic", 1).rstrip(b"\n"))
    assert message is not None
    assert message.is_stored
    assert message.values == {
        "topic": "some/topic",
        "$.a.b.length": 4,
        "$.a.b.0": 1,
        "$.a.b.1": "x",
        "$.a.b.2": "true",
        "$.a.b.3": None,
        "$.c": "2.50",
        "$.d": "\\ud800",
    }


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"17,",
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1}, "a.b": 2}',
        b'{"a": NaN}',
        b"[" * 1900,
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b"\xff",
    ],
)
def test_what_is_no_message_is_dropped(text: bytes) -> None:
    assert read_message(line(text).rstrip(b"\n")) is None
    (garbage,) = proof("idp-roulette").feed(line(text), 9.0)
    assert isinstance(garbage, LinkGarbage)


@pytest.mark.parametrize("res", [None, True, 17.0, "17.0", "", -1, 37, "x", [17], {"0": 17}, 1e30])
def test_what_is_no_number_of_the_wheel_is_no_result(res: Any) -> None:
    assert not [each for each in sent(result(res)) if isinstance(each, WheelNumber)]


@pytest.mark.parametrize("err", [-1, -3, 1, None, "", [0], True])
def test_a_result_with_an_error_is_none(err: Any) -> None:
    assert not [each for each in sent(result(17, err)) if isinstance(each, WheelNumber)]


@pytest.mark.parametrize("res", [[1], [1, 2, 3], [1, 7], [1, None], {"0": 1, "1": 2}, "12"])
def test_dice_are_a_list_of_two(res: Any) -> None:
    assert not [each for each in sent(result(res), "idp-dice") if isinstance(each, DiceRead)]


def test_a_stored_message_is_late_and_the_next_one_is_not() -> None:
    codec = proof("idp-roulette")
    text = json.dumps(result(17)).encode()
    readings = codec.feed(line(text, stored=1) + line(text), 9.0)
    assert [each.late for each in readings if isinstance(each, WheelNumber)] == [True, False]


def test_no_message_sets_a_built_in_field() -> None:
    (number,) = sent({**result(17), "late": True, "nothing": 1, "topic": "command"})
    assert isinstance(number, WheelNumber)
    assert not number.late


@given(st.binary(max_size=300) | DOCUMENTS.map(lambda document: json.dumps(document).encode()))
def test_whatever_is_sent_gives_readings_or_is_dropped(payload: bytes) -> None:
    codec = proof("idp-roulette")
    codec.feed(line(payload), 9.0)
    assert codec.counters.frames + codec.counters.unknown + codec.counters.damaged == 1


@given(DOCUMENTS, st.sampled_from((17, 0, 36)))
def test_what_surrounds_a_result_changes_nothing(document: Any, res: int) -> None:
    (number,) = sent({**result(res, other=document), "more": document})
    assert isinstance(number, WheelNumber)
    assert number.number == res


@given(
    st.dictionaries(
        st.sampled_from(("topic", "$.a", "$.b.c", "$.b.0", "$.d.0", "$.d.1", "$.d.length")),
        st.sampled_from(("1", "2", "x")),
    )
)
def test_a_line_has_the_values_of_which_it_was_built(texts: dict[str, str]) -> None:
    built = message_line(texts)
    if built is None:
        return
    message = read_message(built.rstrip(b"\n"))
    assert message is not None
    assert {path: str(message.values[path]) for path in texts} == texts


MESSAGE = '[[message]]\nname = "m"\n[message.fields]\na = { of = "$.a" }\n'
SUM = '{ kind = "xor", at = -2 }'


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        (f'framing = {{ form = "json" }}\n{MESSAGE}', 'scheme: write `scheme = "mqtt"`'),
        (f'scheme = "mqtt"\n{MESSAGE}', 'scheme: write `scheme = "mqtt"`'),
        (
            f'scheme = "mqtt"\nframing = {{ form = "json", ends = "x" }}\n{MESSAGE}',
            "framing.ends: does not apply to form json",
        ),
        (
            f'scheme = "mqtt"\nframing = {{ form = "json" }}\n{MESSAGE}b = {{ at = 0 }}\n',
            'fields.b.at: does not apply to form json; write `of = "$.path"`',
        ),
        (
            f'scheme = "mqtt"\nframing = {{ form = "json" }}\nchecksum = {SUM}\n{MESSAGE}',
            "checksum: does not apply to form json",
        ),
        (
            f'scheme = "http"\nframing = {{ form = "json" }}\n{MESSAGE}[command.x]\nsend = "x"',
            "command: a device that posts cannot receive anything",
        ),
    ],
)
def test_mistakes(text: str, mistake: str) -> None:
    assert [each for each in mistakes(text) if mistake in each]


@pytest.mark.parametrize(
    ("command", "mistake"),
    [
        ('send = "look"\nwhen = "bets_closed"', "command.x.send: needs {argument}"),
        (
            'send = "look {argument}"\nwhen = "bets_closed"\ntimes = 2',
            "command.x.every: must be 0.5 or more",
        ),
        ('send = "look {argument}"\nevery = 2.0', "command.x: has times of a request"),
        ('send = "look {argument}"\nwhen = "always"', "command.x.when"),
        ('send = "look {argument}"\nwhen = "bets_closed"\ntimes = 21', "command.x.times"),
    ],
)
def test_mistakes_of_a_request(command: str, mistake: str) -> None:
    text = f'scheme = "mqtt"\nframing = {{ form = "json" }}\n{MESSAGE}[command.x]\n{command}\n'
    assert [each for each in mistakes(text) if mistake in each]
