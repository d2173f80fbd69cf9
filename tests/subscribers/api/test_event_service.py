"""What the server stores for its streams: refused recalls, and a log that cannot be written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from common import clock
from common.contract.topics import Topics
from subscribers.api import event_service
from subscribers.api.event_log import StreamLog
from subscribers.api.event_service import LOG_FILE, EventService
from subscribers.api.settings import ApiSettings
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.tables import BrokerLogin

TOPICS = Topics("palma")


class Fed:
    """A service that gets its messages by hand. ``recalls``: what it asked for."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.recalls: list[dict[str, Any]] = []
        monkeypatch.setattr(ServiceConnection, "up", True)
        monkeypatch.setattr(
            ServiceConnection,
            "send",
            lambda _, topic, body: self.recalls.append({"topic": topic, **json.loads(body)}),
        )
        self.now = clock.monotonic()
        monkeypatch.setattr(clock, "monotonic", lambda: self.now)
        self.service = EventService(
            ApiSettings(tokens="tokens.jsonl"),
            BrokerLogin(url="mqtt://127.0.0.1:1", username="web"),
            {"r1": TOPICS},
            folder,
        )

    def state(self, boot: str, seq: int) -> None:
        self.message("state", {"boot": boot, "seq": seq}, retained=True)

    def event(self, seq: int, boot: str = "b1", table: str = "r1") -> None:
        body = {"site": "palma", "table": table, "type": "data.late", "boot": boot, "seq": seq}
        self.message("event", {**body, "time": "2026-03-20T00:00:00Z"}, table=table)

    def message(self, leaf: str, body: Any, *, table: str = "r1", retained: bool = False) -> None:
        self.service._on_message(TOPICS.table(table, leaf), json.dumps(body).encode(), retained)

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.service.tick()

    def stored(self) -> list[tuple[str, int, bool]]:
        """Type, number and lateness of each event."""
        events = self.service.log.latest(0) or []
        bodies = [json.loads(each.body) for each in events]
        return [
            (each.type, each.seq, body.get("historical", False))
            for each, body in zip(events, bodies, strict=True)
        ]


@pytest.fixture
def fed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fed]:
    made = Fed(tmp_path, monkeypatch)
    yield made
    made.service.log.close()


def test_a_refused_recall_becomes_a_gap(fed: Fed) -> None:
    fed.state("b1", 4)
    fed.event(5)
    fed.event(8)
    assert fed.stored() == [("data.late", 5, False)]
    fed.pass_time(1)
    [recall] = fed.recalls
    assert recall["topic"] == TOPICS.table("r1", "command/recall")
    fed.message("reply/web", {"id": recall["id"], "ok": False, "error": "no"})
    fed.pass_time(event_service.REFUSED_SECONDS - 2)
    assert fed.stored() == [("data.late", 5, False)]
    fed.pass_time(3)
    assert fed.stored() == [("data.late", 5, False), ("gap", 8, False), ("data.late", 8, True)]
    [_, gap, _] = fed.service.log.latest(0) or []
    assert json.loads(gap.body)["why"] == "not_recalled"
    fed.event(9)
    assert fed.stored()[-1] == ("data.late", 9, False)
    assert fed.service.gaps == 1


def test_what_is_recalled_is_no_gap(fed: Fed) -> None:
    fed.state("b1", 4)
    fed.event(6)
    fed.pass_time(1)
    [recall] = fed.recalls
    events = [
        {
            "site": "palma",
            "table": "r1",
            "type": "data.late",
            "boot": "b1",
            "seq": seq,
            "time": "2026-03-20T00:00:00Z",
            "historical": True,
        }
        for seq in (4, 5, 6)
    ]
    fed.message("reply/web", {"id": recall["id"], "ok": True, "events": events})
    assert fed.stored() == [("data.late", 5, True), ("data.late", 6, True)]


def test_another_table_is_not_stored(fed: Fed) -> None:
    fed.event(1, table="r2")
    assert fed.stored() == []


def test_an_event_that_could_not_be_stored_follows_late(
    fed: Fed, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed.state("b1", 4)

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(StreamLog, "append", fail)
        fed.event(5)
        assert fed.service.trouble == "database or disk is full"
        fed.pass_time(1)
        assert fed.stored() == []
    fed.pass_time(1)
    assert fed.service.trouble is None
    assert fed.stored() == [("data.late", 5, True)]
    fed.event(6)
    assert fed.stored()[-1] == ("data.late", 6, False)


def test_a_damaged_log_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / LOG_FILE).write_bytes(b"this is no database" * 100)
    made = Fed(tmp_path, monkeypatch)
    made.state("b1", 4)
    made.event(5)
    assert made.stored() == [("data.late", 5, False)]
    assert len(list(tmp_path.glob("*.unreadable-*"))) == 1
    made.service.log.close()
