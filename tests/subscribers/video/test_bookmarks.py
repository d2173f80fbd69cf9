"""Which events become bookmarks, and with which text: only what is already public."""

from __future__ import annotations

import msgspec
import pytest

from common.contract.messages.messages import LANGUAGES
from common.contract.times import format_utc
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.video.bookmarks import (
    BOOKMARK_EVENT_TYPES,
    Bookmark,
    bookmark,
    encode_text,
    json_body,
    text_line,
)
from subscribers.video.pos import insertion_lines
from subscribers.video.settings import BookmarkSettings
from tests.controller.confidential.test_confidential import cards_in
from tests.support.for_each import for_each
from tests.support.games import scripts

SUITS = {"♣": "c", "♦": "d", "♥": "h", "♠": "s"}


def of(encoded: bytes, **changes: object) -> ArchiveRecord:
    fields = msgspec.json.decode(encoded)
    given = {
        "site": fields.get("site") or "palma",
        "kind": "event",
        "key": str(fields.get("seq", 1)),
        "time": fields.get("time") or format_utc(1_790_000_000),
        "received": format_utc(1_790_000_001),
        "body": encoded,
        "table": fields.get("table") or "t1",
        "boot": fields.get("boot") or "b1",
        "seq": fields.get("seq") or 1,
        "type": fields["type"],
        "session": fields.get("session", 0),
        "round": fields.get("round", 0),
        **changes,
    }
    return msgspec.convert(given, ArchiveRecord)


def spelled(told: str) -> str:
    """Return a text with its cards as on the wire."""
    for sign, letter in SUITS.items():
        told = told.replace(f"10{sign}", f"T{letter}").replace(sign, letter)
    return told


@for_each("name", sorted(scripts.scripts()))
def test_a_bookmark_names_no_card_that_its_own_public_event_does_not(name: str) -> None:
    settings = BookmarkSettings(id="b", kind="pos", address="tcp://h:1", site="palma")
    for event in scripts.played(scripts.read(name)):
        if "refused" in event:
            continue
        told = msgspec.json.encode(event)
        record = of(told)
        for language in LANGUAGES:
            mark = bookmark(record, language)
            assert (mark is not None) == (record.type in BOOKMARK_EVENT_TYPES)
            if mark is None:
                continue
            assert mark.text
            sent = [
                mark.text,
                text_line(mark, late=True),
                encode_text(text_line(mark, late=False), "ascii").decode(),
                msgspec.json.encode(json_body(mark, None, late=False)).decode(),
                insertion_lines(mark, settings, late=False).decode(),
            ]
            assert cards_in(*map(spelled, sent)) <= cards_in(told), (name, mark.text)


def test_a_sealed_box_and_what_else_is_no_event_becomes_none() -> None:
    told = b'{"type":"round.result","table":"t1"}'
    for kind in ("sealed", "alert", "reply", "checkpoint", "finding", "access"):
        assert bookmark(of(told, kind=kind), "en") is None


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "round 17: 0"),
        ("es", "jugada 17: 0"),
        ("ca", "jugada 17: 0"),
    ],
)
def test_a_result_is_described_in_the_language_of_its_reader(language: str, said: str) -> None:
    told = (
        b'{"type":"round.result","round":17,"session":2,"frames":[],"outcome":{"family":"roulette",'
        b'"number":0,"colour":null,"parity":null,"half":null,"dozen":null,"column":null,"zeros":1,'
        b'"last_of_session":false}}'
    )
    mark = bookmark(of(told), language)
    assert mark is not None
    assert mark.text == said


def test_a_void_round_has_its_reason_and_the_article() -> None:
    told = (
        b'{"type":"round.void","round":3,"session":1,"reason":"ball_out","law":"ARA02-014",'
        b'"article":"art. 12.3","last_number":null}'
    )
    mark = bookmark(of(told), "en")
    assert mark is not None
    assert mark.text == "round 3: void: the ball left the cylinder (art. 12.3)"


@pytest.mark.parametrize(
    "expected",
    [
        b'{"type":"round.result","outcome":{"family":"a game to come"}}',
        b'{"type":"round.void","reason":7}',
    ],
)
def test_events_of_a_newer_daemon_are_named_and_not_left_out(expected: bytes) -> None:
    mark = bookmark(of(expected, round=4), "en")
    assert mark is not None
    assert mark.text == f"round 4: {msgspec.json.decode(expected)['type']}"


def test_a_body_that_is_no_json_is_named_too() -> None:
    record = of(b'{"type":"round.void"}', body=b"\xff{", type="round.void")
    mark = bookmark(record, "en")
    assert mark is not None
    assert "round.void" in mark.text


def test_one_line_stays_one_line() -> None:
    mark = marked(text="a\r\nnovamas round.void forged\x00")
    assert text_line(mark, late=False).splitlines() == [text_line(mark, late=False)]
    assert "\x00" not in text_line(mark, late=False)


def test_an_encoding_without_suits_has_letters() -> None:
    assert encode_text("10♥ niño · ruleta", "ascii") == b"10h nino - ruleta"
    assert encode_text("niño", "latin-1") == "niño".encode("latin-1")


def marked(**changes: object) -> Bookmark:
    given = {
        "site": "palma", "table": "ruleta-1", "boot": "b1", "seq": 7, "type": "round.void",
        "time": "2026-11-20T22:31:05.250000Z", "session": 2, "round": 17, "text": "void",
        "simulated": False, "historical": False, **changes,
    }  # fmt: skip
    return msgspec.convert(given, Bookmark)
