"""The first event of a run that another journal's events came before may be overtaken: the table is
not asked for events that it cannot know, whenever that event comes.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
import pytest

from subscribers.surveillance.archive import ArchiveRecord
from subscribers.surveillance.recalls import RESTORED_EVENT
from subscribers.surveillance.site_recalls import RecordedTable, SiteRecalls
from tests.subscribers.surveillance.said import event

HANDED_OVER = b'{"type":"journal.restored","source":"other_daemon"}'


class Sent:
    """A connection that notes the recalls."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    def send(self, _topic: str, body: bytes) -> None:
        self.bodies.append(msgspec.json.decode(body))


@pytest.fixture
def sent() -> Sent:
    return Sent()


@pytest.fixture
def recalls(sent: Sent) -> SiteRecalls:
    return SiteRecalls(
        "madrid-1",
        cast("Any", sent),
        cast("Any", None),
        lambda _: None,
        client="cctv",
        key=None,
        person=None,
    )


def of_two_runs(recalls: SiteRecalls) -> tuple[RecordedTable, ArchiveRecord]:
    """A table with events of a run, and the first event of the next run, at another daemon."""
    table = recalls.table("novamas/v1/madrid-1", "R1")
    for seq in (1, 2, 3):
        recalls.on_event(table, event(seq))
    return table, event(1, boot="boot-2", type=RESTORED_EVENT, body=HANDED_OVER)


def test_a_run_of_another_daemon_is_compared_with_nothing(recalls: SiteRecalls) -> None:
    table, first = of_two_runs(recalls)
    recalls.on_event(table, first)
    recalls.on_event(table, event(2, boot="boot-2"))
    assert table.comparisons == []


def test_nor_is_one_whose_first_event_was_overtaken(recalls: SiteRecalls) -> None:
    table, first = of_two_runs(recalls)
    recalls.on_event(table, event(2, boot="boot-2"))
    assert table.comparisons != []
    recalls.on_event(table, first)
    assert table.comparisons == []
    recalls.on_event(table, event(3, boot="boot-2"))
    assert table.comparisons == []


def test_nor_one_whose_first_event_comes_by_a_recall(recalls: SiteRecalls, sent: Sent) -> None:
    table, first = of_two_runs(recalls)
    recalls.on_event(table, event(2, boot="boot-2"))
    table.wants.extend(table.comparisons)
    gap = msgspec.structs.replace(table.wants[0], boot="boot-2", first=1, last=1, compare=False)
    table.wants.appendleft(gap)
    recalls.send_due(0.0)
    assert sent.bodies[-1]["boot"] == "boot-2"
    body = {
        "type": RESTORED_EVENT,
        "site": "madrid-1",
        "table": "R1",
        "game": "boule",
        "decree": "ARA02",
        "boot": "boot-2",
        "seq": 1,
        "time": first.time,
        "source": "other_daemon",
    }
    reply = {"id": sent.bodies[-1]["id"], "ok": True, "events": [body]}
    recalls.on_reply(table, msgspec.json.encode(reply), first.received)
    assert [want for want in table.wants if want.compare] == []


def test_a_restart_of_the_same_daemon_is_compared(recalls: SiteRecalls) -> None:
    table, _ = of_two_runs(recalls)
    recalls.on_event(table, event(1, boot="boot-2", type="device.state"))
    [want] = table.comparisons
    assert (want.boot, want.first, want.last, want.compare) == ("boot-1", 1, 3, True)
