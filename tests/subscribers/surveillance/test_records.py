"""The archive record of a message, as values."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from common.contract.node import Checkpoint
from common.contract.retained import About, Alert, Info
from common.contract.times import format_utc
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.surveillance.records import (
    MAX_MESSAGE_BYTES,
    MAX_WORD_LENGTH,
    BadMessageError,
    TopicPlace,
    parse_topic,
    records,
)
from tests.support.for_each import for_each

SITE, RECEIVED, PUBLISHED = "madrid-1", format_utc(1_790_000_009), format_utc(1_790_000_001)
EVENT: dict[str, Any] = {
    "type": "round.result",
    "boot": "b1",
    "seq": 7,
    "table": "R1",
    "time": PUBLISHED,
    "session": 2,
    "round": 17,
}
CHECKPOINT = Checkpoint(journal="j1", boot="b1", time=PUBLISHED, position=40, hash="ab" * 32)
ALERT = Alert(
    alert="w-lost", what="device.lost", severity="fault", raised=PUBLISHED, device="wheel"
)


def one(rest: str, body: Any, heard: str = RECEIVED, standing: str = "") -> ArchiveRecord:
    given = body if isinstance(body, bytes) else msgspec.json.encode(body)
    [record] = records(SITE, rest, given, heard, standing)
    assert (record.site, record.received, record.body) == (SITE, heard, given)
    return record


@for_each(
    ("rest", "place"),
    [
        ("R1/event", TopicPlace("table", "R1", "event")),
        ("R1/alert/w-lost", TopicPlace("table", "R1", "alert/w-lost")),
        ("node/pit-1/checkpoint", TopicPlace("node", "pit-1", "checkpoint")),
        ("jackpot/gold/reply/c1", TopicPlace("jackpot", "gold", "reply/c1")),
        ("R1", None),
        ("R1/", None),
        ("node/pit-1", None),
        ("node//status", None),
        ("R 1/event", None),
        (f"{'R' * 65}/event", None),
    ],
)
def test_a_topic_has_a_place(rest: str, place: TopicPlace | None) -> None:
    assert parse_topic(rest) == place


def test_an_event_is_found_by_everything_that_it_names() -> None:
    record = one(
        "R1/event",
        EVENT
        | {
            "law": "ARA02-014",
            "article": "art. 14, art. 15",
            "by": "M. Gil",
            "signed_by": [{"id": "m-gil", "role": "table_head"}, "nobody"],
            "frames": [{"device": "wheel", "at": 1}, 7],
            "why": None,
            "reason": 7,
        },
    )
    assert (record.kind, record.key, record.type) == ("event", "R1:b1:7", "round.result")
    assert (record.table, record.boot, record.seq) == ("R1", "b1", 7)
    assert (record.time, record.session, record.round) == (PUBLISHED, 2, 17)
    assert record.words == (
        *("ARA02-014", "art. 14, art. 15", "art. 14", "art. 15", "M. Gil", "m-gil"),
        *("table_head", "wheel"),
    )


def test_words_are_accepted_by_any_database() -> None:
    record = one("R1/event", EVENT | {"by": f" a\0{'b' * MAX_WORD_LENGTH}"})
    assert record.words == (f"a\ufffd{'b' * (MAX_WORD_LENGTH - 2)}",)


@pytest.mark.parametrize("said", ["", "2026-11-22", "2026-11-22T20:30:00Z", "soon"])
def test_without_a_valid_time_it_happened_when_it_was_received(said: str) -> None:
    assert one("R1/event", EVENT | {"time": said}).time == RECEIVED


def test_an_alert_and_its_end() -> None:
    raised = one("R1/alert/w-lost", ALERT)
    assert (raised.kind, raised.type, raised.time) == ("alert", "device.lost", PUBLISHED)
    assert (raised.table, raised.node) == ("R1", "")
    assert raised.words == ("w-lost", "wheel", "fault")
    again = one("R1/alert/w-lost", ALERT, heard=format_utc(1_790_000_060))
    assert again.key == raised.key
    over = one("R1/alert/w-lost", b"", standing=raised.key)
    assert (over.type, over.words, over.time) == ("w-lost", ("cleared",), RECEIVED)
    assert over.key.endswith(f"{raised.key}:cleared")
    assert one("node/pit-1/alert/x", ALERT).node == "pit-1"
    of_jackpot = one("jackpot/gold/alert/x", ALERT)
    assert (of_jackpot.table, of_jackpot.node, of_jackpot.words[-1]) == ("", "", "gold")


def test_a_tables_info_is_stored_once_in_each_run() -> None:
    def said(boot: str, **settings: Any) -> ArchiveRecord:
        about = About(devices={"wheel": "cammegh-ss2"}, settings=settings)
        given = Info(
            site=SITE, table="R1", game="roulette-french", decree="ARA02", boot=boot, about=about
        )
        return one("R1/info", given)

    first = said("b1", pocket_order=[0, 1])
    assert (first.kind, first.type, first.table, first.boot) == ("info", "info", "R1", "b1")
    assert first.words == ("roulette-french", "ARA02", "wheel")
    assert said("b1", pocket_order=[0, 1]).key == first.key
    assert len({first.key, said("b1").key, said("b2", pocket_order=[0, 1]).key}) == 3


def test_a_checkpoint_is_once_by_its_position_and_hash() -> None:
    record = one("node/pit-1/checkpoint", CHECKPOINT)
    assert record.key == f"pit-1:j1:40:{'ab' * 32}"
    assert (record.node, record.boot, record.words, record.time) == (
        "pit-1",
        "b1",
        ("j1",),
        PUBLISHED,
    )


def test_a_box_is_once_by_its_digest() -> None:
    box = {"sealed": "AAAA", "reading": 12}
    record = one("R1/sealed", box)
    assert (record.kind, record.table, record.words) == ("sealed", "R1", ("reading:12",))
    assert one("R1/sealed", box, heard=format_utc(1_790_000_060)).key == record.key
    assert one("R1/sealed", {"sealed": "BBBB"}).key != record.key
    assert one("R1/sealed", {"sealed": "BBBB", "reading": "12"}).words == ()


def test_of_an_answer_to_a_recall_the_events_are_kept() -> None:
    later = EVENT | {"seq": 8, "historical": True}
    body = msgspec.json.encode({"id": 1, "ok": True, "events": [EVENT, later]})
    assert [record.key for record in records(SITE, "R1/reply/c1", body, RECEIVED)] == [
        "R1:b1:7",
        "R1:b1:8",
    ]
    assert records(SITE, "R1/reply/c1", b'{"ok":true,"events":[]}', RECEIVED) == []
    other = msgspec.json.encode({"ok": True, "events": [EVENT | {"table": "R2"}]})
    with pytest.raises(BadMessageError, match="it names table R2, but its topic is of R1"):
        records(SITE, "R1/reply/c1", other, RECEIVED)


def test_any_other_answer_is_kept_itself() -> None:
    refused = {"id": 7, "ok": False, "refusal": {"key": "refused.closed"}}
    record = one("R1/reply/console-1", refused)
    assert (record.kind, record.type) == ("reply", "refused")
    assert record.words == ("console-1", "refused.closed")
    later = format_utc(1_790_000_060)
    assert one("R1/reply/console-1", refused, heard=later).key == record.key
    unnamed = one("R1/reply/console-1", {"ok": True})
    assert unnamed.type == "followed"
    assert one("R1/reply/console-1", {"ok": True}, heard=later).key != unnamed.key


@for_each(
    ("rest", "body", "why"),
    [
        ("R1", b"{}", "no table, node or jackpot"),
        ("R1/event", b" " * (MAX_MESSAGE_BYTES + 1), f"the maximum is {MAX_MESSAGE_BYTES}"),
        ("R1/event", b"nothing", "not JSON: invalid character"),
        ("R1/event", b'{"law":' + b"[" * 100_000, "nested without end"),
        ("R1/event", msgspec.json.encode(EVENT | {"table": "R2"}), "it names table R2"),
        ("R1/event", msgspec.json.encode(EVENT | {"seq": 0}), "seq: expected 1 or more"),
        ("R1/event", msgspec.json.encode(EVENT | {"boot": "b\0"}), "boot: "),
        ("R1/event", msgspec.json.encode(EVENT | {"session": -1}), "session: expected"),
        ("R1/checkpoint", msgspec.json.encode(CHECKPOINT), "a checkpoint belongs to a node"),
        ("node/pit-1/checkpoint", b'{"journal":"j","boot":"b","position":1,"hash":"x"}', "hash"),
        ("R1/info", b'{"table":"R2","boot":"b1","about":{}}', "it names table R2"),
        ("node/pit-1/info", b'{"table":"pit-1","boot":"b1","about":{}}', "it names table pit-1"),
        ("R1/info", b'{"table":"R1","boot":"b1"}', "about"),
        ("R1/alert/x", b'{"alert":7}', "alert: expected text"),
        ("R1/sealed", b"null", "object"),
        ("R1/reply/c1", b'{"ok":1}', "ok: expected true or false"),
        ("R1/history", b"{}", "messages of history are not stored"),
    ],
)
def test_an_unreadable_message_has_a_reason(rest: str, body: bytes, why: str) -> None:
    with pytest.raises(BadMessageError, match=rf"(?i){why}"):
        records(SITE, rest, body, RECEIVED)
