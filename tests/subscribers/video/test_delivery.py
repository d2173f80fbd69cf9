"""Bookmarks arrive at least once and in order, even after outages, and no receiver waits for
another.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common.contract.times import format_utc
from subscribers.surveillance.archive import ArchiveRecord
from subscribers.surveillance.open_archive import open_archive
from subscribers.video.delivery import BookmarkDelivery, DeliveryProgress, progress_key
from subscribers.video.settings import BookmarkSettings
from tests.support.video.receivers import Datagrams, HTTPReceiver, LineReceiver, Statistics
from tests.support.waiting import until

NOW = 1_790_000_000.0


class Sender:
    """An archive, and receivers that get its bookmarks at a time set by the test."""

    def __init__(self, folder: Path) -> None:
        self.place, self.now, self.seq = str(folder / "archive.sqlite3"), NOW, 0
        self.archive = open_archive(self.place)
        self._ends: list[tuple[threading.Event, threading.Thread]] = []

    def happens(
        self, kind: str = "round.void", *, table: str = "r1", **fields: Any
    ) -> ArchiveRecord:
        """Archive an event of a table, now."""
        self.seq += 1
        body = {
            "type": kind, "round": self.seq, "session": 1, "reason": "ball_out", "law": "ARA02-014",
            "article": "art. 12", "last_number": None, **fields,
        }  # fmt: skip
        record = ArchiveRecord(
            site="palma",
            kind="event",
            key=f"{table}/b1/{self.seq}",
            time=format_utc(self.now),
            received=format_utc(self.now),
            body=msgspec.json.encode(body),
            table=table,
            boot="b1",
            seq=self.seq,
            type=kind,
            session=1,
            round=self.seq,
        )
        self.archive.store([record])
        return record

    def send(self, kind: str, address: str, **changes: Any) -> BookmarkDelivery:
        """Send to a receiver until the test ends, or :meth:`stop`."""
        given = {"id": kind, "kind": kind, "address": address, "site": "palma", "pace": 1000.0}
        settings = msgspec.convert({**given, **changes}, BookmarkSettings)
        ending = threading.Event()
        delivery = BookmarkDelivery(
            settings, lambda: open_archive(self.place), ending, clock=lambda: self.now
        )
        known = self.archive.load_value(progress_key(settings.id)) is not None
        thread = threading.Thread(target=delivery.run)
        thread.start()
        self._ends.append((ending, thread))
        if not known:
            until(
                "it begins", lambda: self.archive.load_value(progress_key(settings.id)) is not None
            )
        return delivery

    def kept(self, name: str) -> DeliveryProgress:
        return msgspec.json.decode(
            self.archive.load_value(progress_key(name)) or b"", type=DeliveryProgress
        )

    def stop(self) -> None:
        for ending, _ in self._ends:
            ending.set()
        for _, thread in self._ends:
            thread.join()
        self._ends.clear()


@pytest.fixture
def sender(tmp_path: Path) -> Iterator[Sender]:
    sender = Sender(tmp_path)
    yield sender
    sender.stop()
    sender.archive.close()


@pytest.fixture
def receiver() -> Iterator[Callable[..., Any]]:
    """Makes receivers that end with the test."""
    with ExitStack() as ending:

        def make(kind: Callable[..., Any], *given: Any) -> Any:
            made = kind(*given)
            ending.callback(made.stop)
            return made

        yield make


def rounds(lines: list[bytes]) -> list[int]:
    """Return the rounds named in texts for Milestone."""
    return [int(line.split(b" round ")[1].split()[0]) for line in lines if b" round " in line]


def test_milestone_gets_bookmarks_in_order_and_reports_the_matching_event(
    sender: Sender, receiver: Callable[..., Any]
) -> None:
    source = receiver(LineReceiver, Statistics("round.void r1"))
    delivery = sender.send("milestone", source.address, echo="statistics")
    for _ in range(5):
        sender.happens()
    until("five", lambda: delivery.progress.sent == 5)
    assert rounds(source.lines) == [1, 2, 3, 4, 5]
    assert source.lines[0].startswith(b"novamas round.void r1 session 1 round 1 ")
    assert format_utc(NOW).encode() in source.lines[0]


def test_a_text_that_no_generic_event_matches_is_refused_and_counted(
    sender: Sender, receiver: Callable[..., Any]
) -> None:
    source = receiver(LineReceiver, Statistics("round.result"))
    delivery = sender.send("milestone", source.address, echo="statistics")
    sender.happens()
    sender.happens("round.unresolved", why="silence", candidate=None)
    until("both are done", lambda: delivery.progress.refused == 2)
    assert delivery.progress.sent == 0
    assert rounds(source.lines) == [1, 2]


def test_milestone_compatible_echoes_all_and_udp_answers_nothing(
    sender: Sender, receiver: Callable[..., Any]
) -> None:
    plain, datagrams = receiver(LineReceiver), receiver(Datagrams)
    tcp = sender.send("milestone", plain.address, id="tcp", echo="none")
    udp = sender.send("milestone", datagrams.address, id="udp")
    for _ in range(3):
        sender.happens()
    until("three each", lambda: tcp.progress.sent == udp.progress.sent == 3)
    until("they came", lambda: len(plain.lines) == len(datagrams.texts) == 3)
    assert rounds(datagrams.texts) == [1, 2, 3]
    assert sorted(rounds(plain.lines)) == [1, 2, 3]  # a connection each


def test_point_of_sale_text_has_its_marks_and_short_lines(
    sender: Sender, receiver: Callable[..., Any]
) -> None:
    recorder = receiver(LineReceiver)
    sender.send("pos", recorder.address, begin="BEGIN", end="END", encoding="ascii", language="es")
    sender.happens()
    until("its last line", lambda: b"END" in recorder.lines)
    assert recorder.lines[0] == b"BEGIN"
    assert recorder.lines[1] == b"r1 1/1 round.void"
    assert recorder.lines[2] == format_utc(NOW).encode()
    assert all(len(line) <= 40 and line.isascii() for line in recorder.lines)


def test_frigate_has_an_event_at_once_and_an_export_of_what_is_late(
    sender: Sender, receiver: Callable[..., Any]
) -> None:
    server = receiver(HTTPReceiver)
    delivery = sender.send("frigate", server.address, cameras={"r1": "wheel 1"})
    sender.happens()
    until("the event", lambda: delivery.progress.sent == 1)
    sender.now -= 3600
    late = sender.happens()
    sender.now += 3600
    until("the export", lambda: delivery.progress.sent == 2)
    event, export = server.requests
    assert event.path == "/api/events/wheel%201/round_void/create"
    assert event.told["include_recording"] is True
    at = int(NOW - 3600)
    assert export.path == f"/api/export/wheel%201/start/{at - 10}/end/{at + 10}"
    assert export.told["name"].startswith(f"{late.time} round.void r1")
    assert delivery.progress.late == 1


def test_an_export_of_what_is_not_written_yet_is_tried_again_and_an_old_one_is_not(
    sender: Sender, receiver: Callable[..., Any]
) -> None:
    written = threading.Event()
    missing = (400, {"success": False, "message": "No recordings found for time range"})
    server = receiver(
        HTTPReceiver, lambda _: (200, {"success": True}) if written.is_set() else missing
    )
    delivery = sender.send("frigate", server.address, id="f")
    sender.now -= 86_400
    sender.happens()
    sender.now += 86_400
    until("a day-old request is refused", lambda: delivery.progress.refused == 1)
    sender.now -= 20
    sender.happens()
    sender.now += 20
    until("it is tried again", lambda: delivery.progress.failed >= 1)
    written.set()
    until("it is taken", lambda: delivery.progress.sent == 1)


def test_a_webhook_is_signed_and_has_the_same_key_when_it_is_sent_again(
    sender: Sender, receiver: Callable[..., Any], tmp_path: Path
) -> None:
    tries: list[Any] = []

    def answers(request: Any) -> tuple[int, Any]:
        tries.append(request)
        return (503, {}) if len(tries) == 1 else (204, {})

    server = receiver(HTTPReceiver, answers)
    key = b"0123456789abcdef01234567"
    held = tmp_path / "webhook.key"
    held.write_text(f"whsec_{base64.b64encode(key).decode()}\n")
    delivery = sender.send(
        "webhook", f"{server.address}/hook?a=b", secret_file=str(held), cameras={"r1": "c1"}
    )
    sender.happens()
    until("it is taken", lambda: delivery.progress.sent == 1)
    assert len(tries) == 2
    for attempt in tries:
        headers = attempt.headers
        name, at = headers["webhook-id"], headers["webhook-timestamp"]
        assert attempt.path == "/hook?a=b"
        assert headers["idempotency-key"] == name == "palma/r1/b1/1"
        signed = b".".join([name.encode(), at.encode(), attempt.body])
        digest = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        assert headers["webhook-signature"] == f"v1,{digest}"
    assert tries[0].body == tries[1].body
    told = tries[0].told
    assert told["time"] == format_utc(NOW)
    assert told["camera"] == "c1"
    assert told["late"] is False
    assert told["text"] == "round 1: void: the ball left the cylinder (art. 12)"


@pytest.mark.parametrize("kind", ["milestone", "pos", "frigate", "webhook"])
def test_a_receiver_that_was_away_gets_all_of_it_with_the_true_times(
    kind: str, sender: Sender, receiver: Callable[..., Any]
) -> None:
    http = kind in ("frigate", "webhook")
    away = receiver(HTTPReceiver) if http else receiver(LineReceiver)
    changes: dict[str, Any] = {}
    if kind == "milestone":
        away._echo, changes = Statistics("novamas"), {"echo": "statistics"}
    delivery = sender.send(kind, away.address, **changes)
    first = sender.happens()

    def came() -> bytes:
        said = (
            [request.body + request.path.encode() for request in away.requests]
            if http
            else away.lines
        )
        return b"\n".join(said)

    # What takes plain text confirms nothing: it may read later than all of it is sent.
    until("one is sent", lambda: delivery.progress.sent == 1)
    until("one came", lambda: http or first.time.encode() in came())
    away.stop()
    times = [first.time]
    for _ in range(20):
        sender.now += 30
        times.append(sender.happens().time)
    until("it is told", lambda: delivery.progress.trouble)
    assert away.address.removeprefix("http://") in delivery.progress.trouble
    until("it is kept", lambda: sender.kept(kind).trouble)
    sender.stop()  # and we restart while it is away
    away.start()
    again = sender.send(kind, away.address, **changes)
    until("all are sent", lambda: again.progress.sent == 21)
    until("all came", lambda: http or times[-1].encode() in came())
    found = came()
    if kind == "frigate":  # an event has the time at which it comes
        assert ["/create" in request.path for request in away.requests] == [
            True,
            *[False] * 19,
            True,
        ]
        times = times[1:-1]
    places = [found.index(each.encode()) for each in times]
    assert places == sorted(places)
    assert again.progress.late == 19
    assert not again.progress.trouble


def test_a_stuck_receiver_holds_up_no_other_and_not_the_archive(
    sender: Sender, receiver: Callable[..., Any]
) -> None:
    stuck = threading.Event()

    def never(_: Any) -> tuple[int, Any]:
        stuck.wait()
        return 200, {}

    slow, quick = receiver(HTTPReceiver, never), receiver(LineReceiver)
    try:
        behind = sender.send("webhook", slow.address)
        ahead = sender.send("pos", quick.address)
        for _ in range(50):
            sender.happens()
        until("the other has all", lambda: ahead.progress.sent == 50)
        assert behind.progress.sent == 0
    finally:
        stuck.set()
    until("it goes on", lambda: behind.progress.sent == 50)


def test_only_requested_events_are_sent(sender: Sender, receiver: Callable[..., Any]) -> None:
    server = receiver(HTTPReceiver)
    sender.happens()  # before it was configured
    delivery = sender.send(
        "webhook", server.address, tables=("r1",), events=("round.void", "irregularity")
    )
    sender.happens(table="r2")
    sender.happens("round.opened")
    sender.happens("card.turned", to="player", index=1, card="Ah")
    last = sender.happens()
    until("the last one", lambda: delivery.progress.after >= sender.seq)
    assert [request.told["seq"] for request in server.requests] == [last.seq]


def test_the_pace_is_bounded(sender: Sender, receiver: Callable[..., Any]) -> None:
    recorder = receiver(LineReceiver)
    delivery = sender.send("pos", recorder.address, pace=50.0)
    begin = time.monotonic()
    for _ in range(26):
        sender.happens()
    until("all", lambda: delivery.progress.sent == 26)
    assert time.monotonic() - begin >= 0.5  # 25 pauses of 1/50 s
