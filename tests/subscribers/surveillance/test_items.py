"""Records in words, and searches by a person."""

from __future__ import annotations

import string
from datetime import datetime
from typing import Any

import msgspec
import pytest

from common.contract.messages.messages import ENGLISH, LANGUAGES, catalogue
from subscribers.surveillance.archive import ArchiveRecord, ArchiveRow, Kind
from subscribers.surveillance.items import item
from subscribers.surveillance.records import event_record
from subscribers.surveillance.search_request import (
    EVENT_TYPES,
    SearchRequest,
    SearchRequestError,
    queries,
)
from subscribers.surveillance.timeline import timeline
from subscribers.surveillance.times import TimeError, time_of
from subscribers.surveillance.words import room_text, words
from tests.support.for_each import for_each

NOW = datetime.fromisoformat("2026-11-22T21:00:00+01:00")


def row(number: int, /, **fields: Any) -> ArchiveRow:
    body = {
        "type": "irregularity",
        "boot": "b1",
        "seq": number,
        "time": _time(number),
        "table": "r1",
    }
    return ArchiveRow(
        number, event_record("s", msgspec.json.encode({**body, **fields}), _time(number), "r1")
    )


def _time(second: int) -> str:
    return f"2026-11-22T20:00:{second:02}.000000Z"


def test_an_irregularity_has_its_article_its_evidence_and_its_signer() -> None:
    frames = [{"at": 1.5, "frame": "*X;3", "device": "wheel"}]
    signer = {"id": "m-lasa", "name": "M. Lasa", "role": "table_head"}
    fields = {"what": "ball_out", "law": "ARA02-015", "article": "art. 3", "frames": frames}
    found = item(row(1, **fields, signed_by=[signer], session=2, round=7), "es")
    assert (found.mark, found.title, found.law) == ("irregularity", "la bola salió", "ARA02-015")
    assert [(each.frame, each.device) for each in found.frames] == [("*X;3", "wheel")]
    assert [(each.id, each.role) for each in found.signed] == [("m-lasa", "jefe de mesa")]


@for_each("kind", ["event", "alert", "reply", "finding", "access", "sealed"])
@for_each(
    "body",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"type":7,"key":1,"language":2,"frames":3,"signed_by":[4]}',
        b"[" * 9999,
    ],
)
def test_a_body_that_cannot_be_read_is_shown_all_the_same(kind: Kind, body: bytes) -> None:
    record = ArchiveRecord(
        site="s", kind=kind, key="k", time=_time(1), received=_time(1), body=body
    )
    for language in LANGUAGES:
        assert item(ArchiveRow(1, record), language).kind == kind


def test_every_type_of_event_has_words_and_every_text_has_five_languages() -> None:
    alone = {"irregularity", "alert.raised", "round.void", "round.unresolved"}
    assert {f"event.{each}" for each in EVENT_TYPES - alone} <= catalogue(ENGLISH).keys()
    for key, of in words().items():
        assert set(of) == set(LANGUAGES), key
        parsed = [string.Formatter().parse(reading) for reading in of.values()]
        named = [{name for _, name, _, _ in parts if name is not None} for parts in parsed]
        assert all(each == named[0] for each in named), key


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "card 5 of dealer turned: ace of hearts"),
        ("es", "carta 5 de croupier descubierta: as de corazones"),
        ("eu", "croupierra: 5. karta agerian: bihotzak: batekoa"),
    ],
)
def test_a_card_is_named_in_words(language: str, words: str) -> None:
    turned = {"type": "card.turned", "to": "dealer", "index": 5}
    assert item(row(1, **turned, card="Ah"), language).title == words


def test_a_card_without_a_name_is_face_down_and_an_unknown_one_stays_as_it_is() -> None:
    dealt = {"type": "card.dealt", "to": "player", "index": 1}
    assert item(row(1, **dealt), "es").title.endswith(": boca abajo")
    assert item(row(1, **dealt, card="11z"), "es").title.endswith(": 11z")


@pytest.mark.parametrize(
    ("seen", "title"), [({"number": 17}, "camera vio 17"), ({"dice": [3, 4]}, "camera vio 3 + 4")]
)
def test_what_a_second_witness_saw(seen: dict[str, Any], title: str) -> None:
    reported = {"type": "witness.reported", "device": "camera", **seen}
    assert item(row(1, **reported), "es").title == title


def test_a_field_of_the_wire_never_fills_in_more_than_its_place() -> None:
    told = {"type": "staff.arrived", "person": "{duty} {0.__class__}", "duty": "croupier"}
    assert item(row(1, **told), "en").title == "{duty} {0.__class__} at the table: croupier"
    assert room_text("event.of_a_newer_release", "en") == "of a newer release"


def test_a_search_becomes_queries() -> None:
    [void] = queries(SearchRequest(what=("void",), tables=("r1",)))
    assert (void.kinds, void.types, void.tables) == (("event",), ("round.void",), ("r1",))
    [word] = queries(SearchRequest(what=("ball_out",), words=("ARA02",)))
    assert word.words == ("ARA02", "ball_out")
    assert {query.kinds for query in queries(SearchRequest(what=("alert",)))} == {
        ("event",),
        ("alert",),
    }
    assert "sealed" not in queries(SearchRequest())[0].kinds
    with pytest.raises(SearchRequestError, match="did you mean `irregularity`"):
        queries(SearchRequest(what=("irregularty",)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1h", "2026-11-22T19:00:00.000000Z"),
        ("90 m", "2026-11-22T18:30:00.000000Z"),
        ("20:30", "2026-11-22T19:30:00.000000Z"),
        ("21:30", "2026-11-21T20:30:00.000000Z"),
        ("2026-11-22T20:30:00Z", "2026-11-22T20:30:00.000000Z"),
    ],
)
def test_a_time_as_a_person_writes_it(text: str, found: str) -> None:
    assert time_of(text, NOW) == found


@pytest.mark.parametrize("text", ["", "yesterday", "25:00", "999999d", "2026-13-01"])
def test_no_time(text: str) -> None:
    with pytest.raises(TimeError, match="write 1h"):
        time_of(text, NOW)


def test_a_round_is_a_block_and_a_late_correction_does_not_stretch_it() -> None:
    told = [("round.opened", {}), ("irregularity", {"what": "ball_out"}), ("round.void", {})]
    rows = [row(n, type=kind, session=1, round=4, **more) for n, (kind, more) in enumerate(told, 1)]
    rows.append(row(59, type="result.corrected", session=1, round=4))
    rows.append(row(5, type="alert.raised", what="people"))
    made = timeline(rows)
    [block] = made.blocks
    assert (block.mark, set(block.marks)) == ("void", {"irregularity", "void", "corrected"})
    assert (block.begin, block.end) == (_time(1), _time(3))
    assert [(point.mark, point.number) for point in made.points] == [("alert", 5)]
